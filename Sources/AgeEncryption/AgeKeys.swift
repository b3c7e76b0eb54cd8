import Cryptography
import Foundation

/// A recipient of encrypted data.
///
/// ```swift
/// func recipient() throws -> AgeRecipient {
///   try AgeRecipient("age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p")
/// }
/// ```
public enum AgeRecipient: Sendable {
  /// The owner of an X25519 key pair, given by its public key.
  case publicKey(X25519.PublicKey)
  /// Everyone who knows the passphrase. Cannot be combined with other recipients.
  case passphrase(String)

  /// Creates a recipient from a public key as `age-keygen` prints it: `age1…`.
  public init(_ text: String) throws(AgeError) {
    guard let (prefix, bytes) = Bech32.decode(text), prefix == "age",
      let key = X25519.PublicKey(bytes: bytes)
    else { throw .badRecipient(text) }
    self = .publicKey(key)
  }
}

/// A secret that decrypts a file.
public enum AgeKey: Sendable {
  case secretKey(X25519.PrivateKey)
  case passphrase(String)

  /// Returns a new secret key.
  public static func generate() -> AgeKey { .secretKey(X25519.PrivateKey()) }

  /// Returns the keys in a file as `age-keygen` writes it: one per line. Empty lines and lines that begin with `#`
  /// are skipped.
  public static func all(in text: String) throws(AgeError) -> [AgeKey] {
    var keys: [AgeKey] = []
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let words = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if words.isEmpty || words.utf8.first == UInt8(ascii: "#") { continue }
      guard let (prefix, bytes) = Bech32.decode(words), prefix == "AGE-SECRET-KEY-",
        let key = X25519.PrivateKey(bytes: bytes)
      else { throw .badKey(line: index + 1) }
      keys.append(.secretKey(key))
    }
    if keys.isEmpty { throw .noKeys }
    return keys
  }

  /// The secret key as `age-keygen` writes it; secret. `nil` for a passphrase.
  public var text: String? {
    guard case .secretKey(let key) = self else { return nil }
    return Bech32.encode("age-secret-key-", key.bytes).uppercased()
  }

  /// The recipient that belongs to the key, `age1…`; `nil` for a passphrase.
  public var recipient: String? {
    guard case .secretKey(let key) = self else { return nil }
    return Bech32.encode("age", key.publicKey.bytes)
  }
}

extension AgeKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "AgeKey(\(recipient ?? "a passphrase"))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["recipient": recipient ?? "a passphrase"]) }
}
