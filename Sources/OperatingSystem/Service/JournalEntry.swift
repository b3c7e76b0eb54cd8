import Foundation

/// An entry of systemd's journal in its native protocol: https://systemd.io/JOURNAL_NATIVE_PROTOCOL.
public struct JournalEntry: Sendable {
  /// The entry as a datagram.
  let datagram: [UInt8]

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - message: the text for people; may have several lines.
  ///   - priority: the priority of syslog(3), 0 to 7.
  ///   - program: the value of `SYSLOG_IDENTIFIER` and the prefix of the field names.
  ///   - fields: values of any bytes and any length, by name: `peer` of the program `hpeer` becomes `HPEER_PEER`.
  public init(_ message: String, priority: Int, program: String, fields: [String: String] = [:]) {
    let own = fields.sorted { $0.key < $1.key }.map { (Self.name(program, $0.key), $0.value) }
    let all = [("MESSAGE", message), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", program)] + own
    datagram = all.flatMap { Self.encoded($0, $1) }
  }

  /// Returns a valid field name: capitals, digits and underscores, at most 64. The journal hides names that begin
  /// otherwise.
  private static func name(_ program: String, _ name: String) -> String {
    let text = "\(program)_\(name)".uppercased().unicodeScalars
      .map { ("A"..."Z").contains($0) || ("0"..."9").contains($0) ? Character($0) : "_" }
    return String(text.prefix(64))
  }

  /// Returns an encoded field: a line, or, if the value contains a line feed, the name, the length as 64 bits,
  /// little-endian, and the value.
  private static func encoded(_ name: String, _ value: String) -> [UInt8] {
    let bytes = Array(value.utf8)
    guard bytes.contains(UInt8(ascii: "\n")) else { return Array("\(name)=".utf8) + bytes + [UInt8(ascii: "\n")] }
    let length = withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) }
    return Array("\(name)\n".utf8) + length + bytes + [UInt8(ascii: "\n")]
  }
}
