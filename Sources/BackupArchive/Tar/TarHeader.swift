import Foundation

/// A header block of 512 bytes before a file of a POSIX archive: ustar, with extended headers of pax for sizes and
/// names that do not fit.
struct TarHeader: Equatable {
  static let blockCount = 512
  /// The limit of ustar's octal digits: 8 GiB.
  private static let largestOctal: Int64 = 1 << 33

  enum Kind: Equatable {
    case file
    case directory
    /// The fields for the next entry, or for all following entries.
    case extended(isGlobal: Bool)
    case other
  }

  var name: String
  var size: Int64
  var kind: Kind

  // MARK: Writing

  /// Returns the blocks before a file's content.
  ///
  /// - Parameter modified: the modification time, in seconds since 1970.
  static func blocks(name: String, size: Int64, modified: Int64) -> [UInt8] {
    var fields = ""
    if name.utf8.count > 100 { fields += paxRecord("path", name) }
    if size >= largestOctal { fields += paxRecord("size", String(size)) }
    let block = block(name, size < largestOctal ? size : 0, modified, type: "0")
    if fields.isEmpty { return block }
    let extended = Array(fields.utf8)
    return Self.block("PaxHeaders", Int64(extended.count), modified, type: "x")
      + extended + padding(after: Int64(extended.count)) + block
  }

  /// Returns the zeros that fill the last block of a content of this size.
  static func padding(after size: Int64) -> [UInt8] {
    [UInt8](repeating: 0, count: Int((Int64(blockCount) - size % Int64(blockCount)) % Int64(blockCount)))
  }

  /// The blocks after the last file.
  static let end = [UInt8](repeating: 0, count: 2 * blockCount)

  private static func paxRecord(_ key: String, _ value: String) -> String {
    let rest = " \(key)=\(value)\n"
    var length = rest.utf8.count + 1
    // The length includes its own digits.
    while String(length).utf8.count + rest.utf8.count != length { length = String(length).utf8.count + rest.utf8.count }
    return "\(length)\(rest)"
  }

  private static func block(_ name: String, _ size: Int64, _ modified: Int64, type: String) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: blockCount)
    func put(_ text: String, at offset: Int, _ count: Int) {
      for (index, byte) in text.utf8.prefix(count).enumerated() { block[offset + index] = byte }
    }
    func octal(_ number: Int64, _ digits: Int) -> String {
      let text = String(max(0, number), radix: 8)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    put(name, at: 0, 100)
    put(octal(0o600, 7), at: 100, 7)
    put(octal(0, 7), at: 108, 7)
    put(octal(0, 7), at: 116, 7)
    put(octal(size, 11), at: 124, 11)
    put(octal(modified, 11), at: 136, 11)
    put("        ", at: 148, 8)
    put(type, at: 156, 1)
    put("ustar", at: 257, 5)
    put("00", at: 263, 2)
    let sum = block.reduce(0) { $0 + Int64($1) }
    put(octal(sum, 6), at: 148, 6)
    block[154] = 0
    return block
  }

  // MARK: Reading

  /// Parses a header block; `nil` if its checksum or numbers are wrong.
  ///
  /// - Parameter block: a block of 512 bytes, not all zero.
  init?(_ block: [UInt8]) {
    guard block.count == Self.blockCount, let sum = Self.number(block[148..<156]),
      let size = Self.number(block[124..<136])
    else { return nil }
    var blank = block
    for index in 148..<156 { blank[index] = UInt8(ascii: " ") }
    guard blank.reduce(0, { $0 + Int64($1) }) == sum else { return nil }
    let isPOSIX = block[257..<262].elementsEqual("ustar".utf8)
    let prefix = isPOSIX && block[262] == 0 ? Self.text(block[345..<500]) : ""
    name = (prefix.isEmpty ? "" : prefix + "/") + Self.text(block[0..<100])
    self.size = size
    kind =
      switch block[156] {
      case UInt8(ascii: "0"), 0: .file
      case UInt8(ascii: "5"): .directory
      case UInt8(ascii: "x"): .extended(isGlobal: false)
      case UInt8(ascii: "g"): .extended(isGlobal: true)
      default: .other
      }
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String {
    String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Parses octal digits, or GNU's binary form of larger numbers, which is marked by the first bit.
  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    guard let first = field.first else { return nil }
    if first == 0x80 {
      guard field.dropFirst().dropLast(8).allSatisfy({ $0 == 0 }) else { return nil }
      let value = field.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Int64(exactly: value)
    }
    let text = field.prefix { $0 != 0 }.filter { $0 != UInt8(ascii: " ") }
    if text.isEmpty { return 0 }
    return Int64(String(decoding: text, as: UTF8.self), radix: 8).flatMap { $0 >= 0 ? $0 : nil }
  }

  /// Returns the name and size in an extended header, if it states them. `nil` if the header is malformed.
  static func extended(_ bytes: [UInt8]) -> (name: String?, size: Int64?)? {
    var (name, size): (String?, Int64?) = (nil, nil)
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let space = rest.firstIndex(of: UInt8(ascii: " ")), space - rest.startIndex <= 9,
        let length = Int(String(decoding: rest[..<space], as: UTF8.self)), length > space - rest.startIndex + 1,
        length <= rest.count
      else { return nil }
      let record = rest[(space + 1)..<(rest.startIndex + length)]
      guard record.last == UInt8(ascii: "\n"), let equals = record.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      let value = String(decoding: record[(equals + 1)...].dropLast(), as: UTF8.self)
      switch String(decoding: record[..<equals], as: UTF8.self) {
      case "path": name = value
      case "size":
        guard let number = Int64(value), number >= 0 else { return nil }
        size = number
      default: break
      }
      rest = rest[(rest.startIndex + length)...]
    }
    return (name, size)
  }
}
