import Crypto

@testable import PeerTrust

extension FuzzTarget {
  /// The first byte tells what follows: a share as it came; or a scalar, whose point is taken, and changes to its bytes.
  @Sendable static func curvePoints(_ input: [UInt8]) {
    guard let mode = input.first else { return }
    var bytes = Array(input.dropFirst())
    if mode & 1 == 1, let point = point(scalar: bytes.prefix(32)) {
      let changes = bytes.dropFirst(32)
      bytes = point
      for (index, change) in zip(changes.indices, changes) where index.isMultiple(of: 2) {
        bytes[Int(change) % bytes.count] ^= index + 1 < changes.endIndex ? changes[index + 1] : 1
      }
    }
    let isPoint = (try? Crypto.P256.Signing.PublicKey(x963Representation: bytes)) != nil
    let accepted: Bool
    do {
      let curve = try PeerTrust.P256.shared()
      let share = try? curve.decodeShare(bytes)
      accepted = share != nil
      if let share { require(try curve.encode(share) == bytes, "a point has one spelling") }
      if mode & 2 == 2 {
        let element = try? SPAKE2(role: .b, w: one, secret: one).sharedElement(peerShare: bytes).count
        // A share of w·M makes the shared element the identity, which must be refused as well.
        require(accepted || element == nil, "no key with what is no point")
      }
    } catch {
      fatalError("broken promise: the curve works: \(error)")
    }
    require(accepted == isPoint, "SPAKE2 says \(accepted), swift-crypto says \(isPoint): \(bytes)")
  }

  private static let one: Scalar = {
    do {
      return try Scalar(bytes: Array(repeating: 0, count: 31) + [1])
    } catch {
      fatalError("1 is a scalar: \(error)")
    }
  }()

  private static func point(scalar: ArraySlice<UInt8>) -> [UInt8]? {
    guard let scalar = try? Scalar(bytes: Array(scalar)), let curve = try? PeerTrust.P256.shared() else { return nil }
    return try? curve.encode(curve.multiplyBase(by: scalar))
  }
}
