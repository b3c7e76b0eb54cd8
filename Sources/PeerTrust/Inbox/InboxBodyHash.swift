import Cryptography
import Foundation

/// The hash by which a repeated body is recognized.
public enum InboxBodyHash {
  /// Returns the SHA-256 of a body as it was received and of the text that came with it.
  public static func hash(of body: [UInt8], beside text: String? = nil) -> Data {
    var hasher = SHA256()
    hasher.update(data: Data((text ?? "").utf8))
    hasher.update(data: [0])
    hasher.update(data: body)
    return Data(hasher.finalize())
  }
}
