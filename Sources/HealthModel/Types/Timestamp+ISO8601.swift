/// Conversion to and from ISO 8601 text, in the subset (RFC 3339) that people and other programs commonly write.
extension Timestamp {
  /// The instant in UTC: `2024-06-15T10:30:00Z`, with six decimals if it has a fraction of a second.
  public var iso8601: String {
    String(unsafeUninitializedCapacity: Self.longestText) { write(into: $0) }
  }

  /// Appends ``iso8601`` without creating a `String`.
  public func append(to bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestText) { buffer in
      let count = write(into: buffer)
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// The maximum length of ``iso8601`` in bytes.
  private static var longestText: Int { 32 }

  /// Writes ``iso8601`` to the buffer.
  ///
  /// - Returns: the number of bytes written.
  private func write(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let (year, month, day, hour, minute, second, microsecond) = civil
    var count = 0
    func put(_ character: Unicode.Scalar) {
      buffer[count] = UInt8(ascii: character)
      count += 1
    }
    func putTwo(_ number: Int) {
      buffer[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
      buffer[count + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
      count += 2
    }
    if year < 0 || year > 9999 {
      put(year < 0 ? "-" : "+")
      // A timestamp cannot hold years of more than six digits.
      putTwo(abs(year) / 10_000)
    }
    putTwo(abs(year) / 100 % 100)
    putTwo(abs(year) % 100)
    put("-")
    putTwo(month)
    put("-")
    putTwo(day)
    put("T")
    putTwo(hour)
    put(":")
    putTwo(minute)
    put(":")
    putTwo(second)
    if microsecond != 0 {
      put(".")
      putTwo(microsecond / 10_000)
      putTwo(microsecond / 100 % 100)
      putTwo(microsecond % 100)
    }
    put("Z")
    return count
  }

  /// Reads `YYYY-MM-DD`, optionally followed by `T` or a space, `HH:MM[:SS[.fraction]]` and `Z` or `±HH[:]MM`.
  ///
  /// Years may have a sign and up to six digits. Text without an offset is in UTC. Digits beyond microseconds are
  /// dropped.
  public init?(iso8601 text: some StringProtocol) {
    var scanner = DigitScanner(Array(text.utf8))
    let negative = scanner.take(UInt8(ascii: "-"))
    let signed = negative || scanner.take(UInt8(ascii: "+"))
    guard let year = scanner.number(digits: signed ? 4...6 : 4...4), scanner.take(UInt8(ascii: "-")),
      let month = scanner.number(digits: 2...2), scanner.take(UInt8(ascii: "-")),
      let day = scanner.number(digits: 2...2)
    else { return nil }
    var (hour, minute, second, microsecond, offset) = (0, 0, 0, 0, 0)
    if !scanner.isAtEnd {
      guard scanner.take(UInt8(ascii: "T")) || scanner.take(UInt8(ascii: " ")),
        let h = scanner.number(digits: 2...2), scanner.take(UInt8(ascii: ":")), let m = scanner.number(digits: 2...2)
      else { return nil }
      (hour, minute) = (h, m)
      if scanner.take(UInt8(ascii: ":")) {
        guard let s = scanner.number(digits: 2...2) else { return nil }
        second = s
        if scanner.take(UInt8(ascii: ".")) {
          guard let fraction = scanner.fraction(digits: 6) else { return nil }
          microsecond = fraction
        }
      }
      guard let seconds = scanner.offset() else { return nil }
      offset = seconds
    }
    guard scanner.isAtEnd else { return nil }
    self.init(
      year: negative ? -year : year, month: month, day: day, hour: hour, minute: minute, second: second,
      microsecond: microsecond, offset: offset)
  }
}

/// Reads fixed-width decimal fields from bytes.
private struct DigitScanner {
  private let bytes: [UInt8]
  private var index = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { index == bytes.count }

  mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  mutating func number(digits: ClosedRange<Int>) -> Int? {
    var value = 0
    var count = 0
    while index < bytes.count, count < digits.upperBound, case let digit = bytes[index] &- 48, digit < 10 {
      value = value * 10 + Int(digit)
      index += 1
      count += 1
    }
    return count >= digits.lowerBound ? value : nil
  }

  /// Reads decimals and scales them to exactly `digits` places. Further digits are skipped.
  mutating func fraction(digits: Int) -> Int? {
    var value = 0
    var count = 0
    while index < bytes.count, case let digit = bytes[index] &- 48, digit < 10 {
      if count < digits { value = value * 10 + Int(digit) }
      index += 1
      count += 1
    }
    guard count > 0 else { return nil }
    while count < digits {
      value *= 10
      count += 1
    }
    return value
  }

  /// Reads a UTC offset in seconds east of UTC: nothing, `Z`, `±HHMM` or `±HH:MM`.
  mutating func offset() -> Int? {
    if isAtEnd || take(UInt8(ascii: "Z")) { return 0 }
    _ = take(UInt8(ascii: " "))
    let west = take(UInt8(ascii: "-"))
    guard west || take(UInt8(ascii: "+")), let hours = number(digits: 2...2) else { return nil }
    _ = take(UInt8(ascii: ":"))
    guard let minutes = number(digits: 2...2), hours < 24, minutes < 60 else { return nil }
    return (west ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}

extension Timestamp: CustomStringConvertible {
  public var description: String { iso8601 }
}

extension Timestamp: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = Timestamp(iso8601: text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an ISO 8601 instant")
    }
    self = value
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(iso8601)
  }
}
