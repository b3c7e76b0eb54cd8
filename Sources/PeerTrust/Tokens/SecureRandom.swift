import Cryptography
import PeerProtocol

extension SecureRandom {
  /// Returns a new random machine ID.
  static func peerID() -> PeerID {
    guard let id = PeerID(bytes: bytes(PeerID.byteCount)) else { preconditionFailure("the length is the ID's own") }
    return id
  }
}

extension PairingCode {
  /// Returns a code uniform over 000000 to 999999, from the kernel's random number generator.
  public static func random() -> PairingCode {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  /// Returns a uniform code. Rejects numbers in the last, incomplete million, which would favour small codes.
  static func random(using generator: inout some RandomNumberGenerator) -> PairingCode {
    let codeCount: UInt32 = 1_000_000
    let limit = UInt32.max - UInt32.max % codeCount
    var number: UInt32
    repeat { number = generator.next() } while number >= limit
    let digits = String(number % codeCount)
    guard let code = PairingCode(String(repeating: "0", count: digitCount - digits.count) + digits) else {
      preconditionFailure("a number below a million has at most six digits")
    }
    return code
  }
}
