import Cryptography
import Synchronization
import Testing

@testable import PeerTrust

extension SecretBytes {
  var copied: [UInt8] { withBytes { Array($0) } }
}

@Suite("Secrets that overwrite themselves")
struct SecretBytesTests {
  /// The content of a secret's memory when it was released.
  private final class Left: Sendable {
    let bytes = Mutex<[UInt8]?>(nil)
  }

  @Test("nothing of a secret is left in the memory that is given back")
  func overwritten() {
    let left = Left()
    do {
      var secret = SecretBytes(count: 48) { memory in
        left.bytes.withLock { $0 = Array(memory) }
        memory.deallocate()
      }
      secret.withMutableBytes { $0.copyBytes(from: [UInt8](repeating: 7, count: 48)) }
      #expect(secret.copied == [UInt8](repeating: 7, count: 48))
      #expect(left.bytes.withLock(\.self) == nil)
    }
    #expect(left.bytes.withLock(\.self) == [UInt8](repeating: 0, count: 48))
  }

  @Test("a new one is zero, and one can be empty")
  func values() {
    #expect(SecretBytes(count: 3).copied == [0, 0, 0])
    #expect(SecretBytes(copying: []).copied == [])
    #expect(SecretBytes(copying: "042195".utf8).copied == Array("042195".utf8))
  }
}
