import Foundation

/// An entry of systemd's journal as its native protocol carries it: https://systemd.io/JOURNAL_NATIVE_PROTOCOL.
public struct JournalEntry: Sendable {
  /// One datagram.
  let datagram: [UInt8]

  /// - Parameters:
  ///   - message: what a person reads; may have several lines.
  ///   - priority: of syslog(3), 0 to 7.
  ///   - program: becomes `SYSLOG_IDENTIFIER`, and begins the names of the fields.
  ///   - fields: values of any bytes, without budget, by their names: `peer` of the program `hpeer` becomes `HPEER_PEER`.
  public init(_ message: String, priority: Int, program: String, fields: [String: String] = [:]) {
    let own = fields.sorted { $0.key < $1.key }.map { (Self.name(program, $0.key), $0.value) }
    let all = [("MESSAGE", message), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", program)] + own
    datagram = all.flatMap { Self.encoded($0, $1) }
  }

  /// The journal takes capitals, digits and underscores, 64 at most, and keeps names that begin otherwise to itself.
  private static func name(_ program: String, _ name: String) -> String {
    let text = "\(program)_\(name)".uppercased().unicodeScalars
      .map { ("A"..."Z").contains($0) || ("0"..."9").contains($0) ? Character($0) : "_" }
    return String(text.prefix(64))
  }

  /// A line; or, since a line feed would end that, the name, the length in 64 bits with the lowest byte first, and the value.
  private static func encoded(_ name: String, _ value: String) -> [UInt8] {
    let bytes = Array(value.utf8)
    guard bytes.contains(UInt8(ascii: "\n")) else { return Array("\(name)=".utf8) + bytes + [UInt8(ascii: "\n")] }
    let length = withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) }
    return Array("\(name)\n".utf8) + length + bytes + [UInt8(ascii: "\n")]
  }
}
