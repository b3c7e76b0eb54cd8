import Foundation
import HealthModel

/// Reads the dates of an export: `yyyy-MM-dd HH:mm:ss ±HHMM`, and the forms of older versions and other programs.
///
/// Caches the last day and offset, which repeat from record to record.
struct DateReader {
  struct Reading {
    var date: Timestamp
    /// Whether the text stated an offset; otherwise UTC was assumed.
    var hasOffset = true
    /// Whether the time was printed on a 12-hour clock.
    var isTwelveHours = false
  }

  private var dayHead: UInt64 = 0
  private var dayTail: UInt16 = 0
  private var dayStart: Int64 = 0
  private var offsetHead: UInt32 = 0
  private var offsetTail: UInt16 = 0
  private var isCached = false
  /// The UTC offset of the last date in the usual form, in seconds. A whole export has the phone's offset at that
  /// time.
  private(set) var offset: Int64?

  mutating func read(_ bytes: Bytes) -> Reading? {
    if bytes.count == 25, let seconds = usual(bytes) { return Reading(date: Timestamp(seconds: seconds)) }
    if bytes.count == 20, let date = Self.zulu(bytes) { return Reading(date: date) }
    return other(bytes.trimmed)
  }

  mutating func read(_ text: String) -> Reading? {
    var copy = self
    let result = text.withBytes { copy.read($0) }
    self = copy
    return result
  }

  /// Returns the seconds since 1970 of a date in the usual form, `2024-06-15 10:30:00 +0200`.
  mutating func usual(_ bytes: Bytes) -> Int64? {
    let raw = UnsafeRawPointer(bytes.start)
    let head = raw.loadUnaligned(as: UInt64.self)
    let tail = raw.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
    let zoneHead = raw.loadUnaligned(fromByteOffset: 19, as: UInt32.self)
    let zoneTail = raw.loadUnaligned(fromByteOffset: 23, as: UInt16.self)
    if !isCached || head != dayHead || tail != dayTail || zoneHead != offsetHead || zoneTail != offsetTail {
      guard let start = dayAndOffset(bytes) else { return nil }
      (dayHead, dayTail, offsetHead, offsetTail) = (head, tail, zoneHead, zoneTail)
      dayStart = start
      isCached = true
    }
    guard bytes[10] == 0x20, bytes[13] == 0x3A, bytes[16] == 0x3A, let hour = Self.two(bytes, 11),
      let minute = Self.two(bytes, 14), let second = Self.two(bytes, 17), hour < 24, minute < 60, second <= 60
    else { return nil }
    return dayStart + Int64(hour * 3600 + minute * 60 + second)
  }

  private mutating func dayAndOffset(_ bytes: Bytes) -> Int64? {
    guard let century = Self.two(bytes, 0), let year = Self.two(bytes, 2), bytes[4] == 0x2D,
      let month = Self.two(bytes, 5), bytes[7] == 0x2D, let day = Self.two(bytes, 8), bytes[19] == 0x20,
      let offset = Self.offset(bytes.dropFirst(20)),
      let date = Timestamp(year: century * 100 + year, month: month, day: day)
    else { return nil }
    self.offset = offset
    return date.seconds - offset
  }

  /// Returns the instant of `2024-06-15T10:30:00Z`.
  private static func zulu(_ bytes: Bytes) -> Timestamp? {
    guard bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54, bytes[13] == 0x3A, bytes[16] == 0x3A,
      bytes[19] == 0x5A, let century = two(bytes, 0), let year = two(bytes, 2), let month = two(bytes, 5),
      let day = two(bytes, 8), let hour = two(bytes, 11), let minute = two(bytes, 14), let second = two(bytes, 17)
    else { return nil }
    return Timestamp(
      year: century * 100 + year, month: month, day: day, hour: hour, minute: minute, second: second)
  }

  /// Returns the offset `±HHMM` in seconds.
  private static func offset(_ bytes: Bytes) -> Int64? {
    guard bytes.count == 5, bytes[0] == 0x2B || bytes[0] == 0x2D, let hours = two(bytes, 1),
      let minutes = two(bytes, 3), hours < 24, minutes < 60
    else { return nil }
    return (bytes[0] == 0x2D ? -1 : 1) * Int64(hours * 3600 + minutes * 60)
  }

  private static func two(_ bytes: Bytes, _ index: Int) -> Int? {
    let (tens, ones) = (bytes[index] &- 48, bytes[index + 1] &- 48)
    return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
  }

  /// Reads iOS 8's `yyyyMMddHHmmssZ`, where Z is an offset or the letter, ISO 8601, and localised dates.
  private func other(_ bytes: Bytes) -> Reading? {
    guard bytes.count > 0, bytes.count <= 64 else { return nil }
    if bytes.count >= 14, bytes[4] != 0x2D, let digits = Self.fourteenDigits(bytes) {
      let rest = bytes.dropFirst(14).trimmed
      if rest.count == 0 { return Reading(date: Timestamp(seconds: digits), hasOffset: false) }
      if rest == "Z" { return Reading(date: Timestamp(seconds: digits)) }
      return Self.offset(rest).map { Reading(date: Timestamp(seconds: digits - $0)) }
    }
    let text = bytes.text
    guard let date = Timestamp(iso8601: text) else { return LocalisedDate.read(text) }
    let time = text.utf8.dropFirst(10)
    let hasOffset = time.contains { $0 == 0x5A || $0 == 0x2B || $0 == 0x2D }
    return Reading(date: date, hasOffset: hasOffset)
  }

  private static func fourteenDigits(_ bytes: Bytes) -> Int64? {
    guard let century = two(bytes, 0), let year = two(bytes, 2), let month = two(bytes, 4), let day = two(bytes, 6),
      let hour = two(bytes, 8), let minute = two(bytes, 10), let second = two(bytes, 12)
    else { return nil }
    return Timestamp(
      year: century * 100 + year, month: month, day: day, hour: hour, minute: minute, second: second)?.seconds
  }
}
