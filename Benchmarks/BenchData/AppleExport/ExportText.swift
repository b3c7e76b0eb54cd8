import Foundation
import HealthModel

/// A writer of text in the format of Apple's export.
struct ExportText {
  private(set) var bytes: [UInt8] = []
  private let offset: Int64
  private let zone: [UInt8]
  /// The day that was printed last, in days since 1970, and its date.
  private var day = Int64.min
  private var date: [UInt8] = []

  /// - Parameter offset: The offset of all dates from UTC, in seconds.
  init(offset: Int64) {
    self.offset = offset
    zone = Array(" +\(Self.pad(offset / 3600))\(Self.pad(offset % 3600 / 60))".utf8)
  }

  /// Returns and removes the text added so far.
  mutating func take() -> [UInt8] {
    let taken = bytes
    bytes.removeAll(keepingCapacity: false)
    bytes.reserveCapacity(taken.count + 4096)
    return taken
  }

  mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Adds text, escaped for an attribute.
  mutating func add(escaped text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): add("&amp;")
      case UInt8(ascii: "<"): add("&lt;")
      case UInt8(ascii: ">"): add("&gt;")
      case UInt8(ascii: "\""): add("&quot;")
      default: bytes.append(byte)
      }
    }
  }

  mutating func attribute(_ name: String, _ value: String) {
    begin(name)
    add(escaped: value)
    add("\"")
  }

  mutating func attribute(_ name: String, _ value: Double) {
    begin(name)
    add(value)
    add("\"")
  }

  /// Adds a date in the format of all exports, `2024-06-15 12:30:00 +0200`.
  mutating func attribute(_ name: String, _ instant: Timestamp) {
    begin(name)
    add(instant.seconds)
    add("\"")
  }

  mutating func add(_ seconds: Int64) {
    let local = seconds + offset
    // After 1970.
    let (today, clock) = (local / 86_400, local % 86_400)
    if today != day {
      day = today
      date = Array(Self.day(today).utf8)
    }
    bytes.append(contentsOf: date)
    bytes.append(UInt8(ascii: " "))
    addClock(clock)
    bytes.append(contentsOf: zone)
  }

  /// Adds seconds since midnight as `14:07:09`.
  mutating func addClock(_ clock: Int64) {
    addPair(clock / 3600)
    bytes.append(UInt8(ascii: ":"))
    addPair(clock % 3600 / 60)
    bytes.append(UInt8(ascii: ":"))
    addPair(clock % 60)
  }

  mutating func addPair(_ number: Int64) {
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10))
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  /// Adds a number with six significant digits, like C's `%g`.
  mutating func add(_ value: Double) {
    if value == value.rounded(), value.magnitude < 1_000_000 { return add(String(Int(value))) }
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
      guard let base = text.baseAddress else { return }
      let count = withVaList([value]) { vsnprintf(base, 32, "%g", $0) }
      bytes.append(contentsOf: UnsafeRawBufferPointer(start: base, count: Int(count)))
    }
  }

  /// Adds an attribute's name and opening quote.
  mutating func begin(_ name: String) {
    bytes.append(UInt8(ascii: " "))
    add(name)
    add("=\"")
  }

  // MARK: Days

  /// Returns days since 1970 as a date, `2024-06-15`.
  static func day(_ days: Int64) -> String {
    let civil = Timestamp(seconds: days * 86_400).civil
    return "\(civil.year)-\(pad(Int64(civil.month)))-\(pad(Int64(civil.day)))"
  }

  private static func pad(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// The local time of the person's home in Berlin.
enum WallClock {
  /// Returns Berlin's offset in seconds east of UTC. The EU's summer time lasts from the last Sunday in March to the
  /// last Sunday in October, 01:00 UTC.
  static func offset(at seconds: Int64) -> Int64 {
    let year = Timestamp(seconds: seconds).civil.year
    let summer = lastSunday(year, 3)..<lastSunday(year, 10)
    return summer.contains(seconds) ? 7200 : 3600
  }

  private static func lastSunday(_ year: Int, _ month: Int) -> Int64 {
    // Both months have 31 days; 1970 began on a Thursday.
    let last = Timestamp.daysFromCivil(year: year, month: month, day: 31)
    return Int64(last - (last + 4) % 7) * 86_400 + 3600
  }
}
