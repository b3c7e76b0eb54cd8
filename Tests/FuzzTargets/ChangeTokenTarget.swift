import Foundation
import PeerProtocol

extension FuzzTarget {
  /// Fuzzes change tokens. The first byte determines what follows: the text of a token; or the change, epoch and
  /// filter of a token to seal, and then corruptions of its text.
  @Sendable static func changeToken(_ input: [UInt8]) {
    guard let mode = input.first else { return }
    let rest = Array(input.dropFirst())
    guard mode & 1 == 1, rest.count >= 24 else {
      let spelling = text(rest)
      require((try? seal.token(in: spelling)) == nil, "nobody guesses a sealed token: \(spelling)")
      return
    }
    let numbers = (0..<3).map { index in rest[index * 8..<index * 8 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    let token = ChangeToken(change: Int64(numbers[0] >> 1), epoch: numbers[1], filter: numbers[2])
    do {
      let sealed = seal.text(of: token)
      require(try seal.token(in: sealed) == token, "a token opens: \(sealed)")
      require((try? otherSeal.token(in: sealed)) == nil, "another store's key does not open it: \(sealed)")
      var changed = Array(sealed.utf8)
      for (index, change) in rest.dropFirst(24).enumerated() {
        changed[Int(change) % changed.count] ^= UInt8(truncatingIfNeeded: index + 1)
      }
      let other = text(changed)
      if other != sealed { require((try? seal.token(in: other)) == nil, "a change shows: \(sealed), \(other)") }
    } catch {
      fatalError("broken promise: a token can be sealed and opened: \(error)")
    }
  }

  static let seal = ChangeTokenSeal(key: Data(repeating: 1, count: 32))
  private static let otherSeal = ChangeTokenSeal(key: Data(repeating: 2, count: 32))
}
