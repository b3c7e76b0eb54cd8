import Cryptography
import Foundation

/// By what a body is known again.
public enum InboxBodyHash {
  /// The SHA-256 of a body as it came, and of what came beside it.
  public static func hash(of body: [UInt8], beside text: String? = nil) -> Data {
    var hasher = SHA256()
    hasher.update(data: Data((text ?? "").utf8))
    hasher.update(data: [0])
    hasher.update(data: body)
    return Data(hasher.finalize())
  }
}
