import Foundation

/// A parser for systemd's native journal protocol that, unlike journald, rejects malformed entries:
/// https://systemd.io/JOURNAL_NATIVE_PROTOCOL.
public enum JournalDatagram {
  /// The reason why a datagram isn't a journal entry.
  public struct Malformed: Error, CustomStringConvertible {
    public let description: String
  }

  /// - Returns: The values by field name. A name may appear only once.
  public static func fields(_ datagram: [UInt8]) throws -> [String: String] {
    var fields: [String: String] = [:]
    var rest = datagram[...]
    while !rest.isEmpty {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { throw Malformed(description: "no line feed") }
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      let name: String
      let value: ArraySlice<UInt8>
      if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
        (name, value) = (String(decoding: line[..<equals], as: UTF8.self), line[(equals + 1)...])
      } else {
        name = String(decoding: line, as: UTF8.self)
        guard rest.count >= 8 else { throw Malformed(description: "\(name): no length") }
        let count = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        guard count < UInt64(rest.count) else { throw Malformed(description: "\(name): \(count) bytes are not there") }
        value = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        guard rest.first == UInt8(ascii: "\n") else { throw Malformed(description: "\(name): no line feed after it") }
        rest = rest.dropFirst()
      }
      guard name.wholeMatch(of: #/[A-Z][A-Z0-9_]{0,63}/#) != nil else { throw Malformed(description: "name \(name)") }
      guard let text = String(validating: value, as: UTF8.self) else {
        throw Malformed(description: "\(name): no UTF-8")
      }
      guard fields.updateValue(text, forKey: name) == nil else { throw Malformed(description: "\(name) twice") }
    }
    guard fields["MESSAGE"] != nil else { throw Malformed(description: "no MESSAGE") }
    return fields
  }
}
