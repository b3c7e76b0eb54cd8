import HealthModel

/// A reason why a message of `hpeer-pair/1` is invalid.
public enum PairMessageError: Error, Hashable, Sendable {
  /// The field is not hexadecimal, has the wrong length or is out of range.
  case badField(String)
}

extension PairMessageError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .badField(let name):
      "The pairing message's field '\(name)' is malformed: make sure that both machines run a current hpeer."
    }
  }
}

/// Checks shared by the pairing messages.
enum PairField {
  static func bytes(_ bytes: [UInt8], count: Int, _ name: String) throws(PairMessageError) -> [UInt8] {
    guard bytes.count == count else { throw .badField(name) }
    return bytes
  }

  /// Returns a name of 1 to 64 bytes of UTF-8 without NUL, which would end a string in C libraries.
  static func name(_ name: String) throws(PairMessageError) -> String {
    guard (1...PairingProtocol.maximumNameByteCount).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw .badField("name")
    }
    return name
  }

  /// Returns a list of one to eight versions, each of printable ASCII without a comma, which separates them in the
  /// transcript.
  static func versions(_ versions: [String]) throws(PairMessageError) -> [String] {
    let isValid = versions.allSatisfy { version in
      (1...PairingProtocol.maximumVersionByteCount).contains(version.utf8.count)
        && version.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ",") }
    }
    guard isValid, (1...PairingProtocol.maximumVersionCount).contains(versions.count) else {
      throw .badField("versions")
    }
    return versions
  }
}

extension KeyedDecodingContainer {
  /// Decodes a binary field from hexadecimal. The limit bounds the memory that a hostile message can cost.
  func decodeHex(_ key: Key, maximumByteCount: Int = 256) throws -> [UInt8] {
    let text = try decode(String.self, forKey: key)
    guard text.utf8.count <= 2 * maximumByteCount, let bytes = RadixCoding.hex.decode(text) else {
      throw PairMessageError.badField(key.stringValue)
    }
    return bytes
  }
}

extension KeyedEncodingContainer {
  mutating func encodeHex(_ bytes: [UInt8], forKey key: Key) throws {
    try encode(RadixCoding.hex.encode(bytes), forKey: key)
  }
}
