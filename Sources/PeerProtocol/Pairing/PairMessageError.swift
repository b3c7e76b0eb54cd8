import HealthModel

/// Why a message of `hpeer-pair/1` is not one.
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

/// The checks that the messages share.
enum PairField {
  static func bytes(_ bytes: [UInt8], count: Int, _ name: String) throws(PairMessageError) -> [UInt8] {
    guard bytes.count == count else { throw .badField(name) }
    return bytes
  }

  /// One to 64 bytes of UTF-8. NUL is refused because it ends a text in C libraries.
  static func name(_ name: String) throws(PairMessageError) -> String {
    guard (1...PairingProtocol.maximumNameByteCount).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw .badField("name")
    }
    return name
  }

  /// One to eight tokens of printable ASCII without the comma that joins them in the transcript.
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
  /// Binary fields are hexadecimal. The limit keeps a hostile message from making us allocate.
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
