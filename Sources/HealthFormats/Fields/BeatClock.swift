import HealthModel

/// Derives the instants of heart beats from the local wall-clock times that Apple prints for them.
///
/// A record's dates have the phone's UTC offset at the export, but its beats have the true local time in the format
/// of the person's locale. UTC offsets are whole quarters of an hour, so the minutes within a quarter determine the
/// instant: the first beat is the first such instant at or after the record's start (at most 15 minutes later), and
/// each further beat follows at the distance that the clock shows.
struct BeatClock {
  /// The beats as `bpm@seconds;…`, in seconds after the record's start.
  let beats: String
  /// The UTC offset of the clock, in seconds.
  let offset: Int
  /// The first beat's time as printed, which shows the format of all times.
  let format: String
  /// Whether ``printed(start:)`` reproduces the original text.
  let isExact: Bool

  /// Creates a clock from beats that were read earlier.
  init(beats: String, offset: Int, format: String) {
    self.beats = beats
    self.offset = offset
    self.format = format
    isExact = true
  }

  private static let quarter: Int64 = 900_000_000
  static let day: Int64 = 86_400_000_000

  /// Creates a clock from the printed beats of a record, or returns `nil` if no single offset fits them all.
  ///
  /// - Parameters:
  ///   - text: the beats as printed: `bpm@time;…`.
  ///   - start: the start of the record, in whole seconds.
  ///   - nearest: the likeliest UTC offset, in seconds. If several offsets fit, as on a 12-hour clock or with +13 and
  ///     -11 hours, the one closest to it is used.
  init?(_ text: String, start: Timestamp, end: Timestamp, nearest: Int) {
    guard let clock = text.withBytes({ BeatClock($0, start: start, end: end, nearest: nearest) }) else { return nil }
    self = clock
  }

  private init?(_ text: Bytes, start: Timestamp, end: Timestamp, nearest: Int) {
    guard let beats = Self.beats(text), let first = beats.first, !start.isExtreme else { return nil }
    let startOfDay = start.microseconds.modulo(Self.day)
    var time = (first.position - startOfDay).modulo(Self.quarter)
    // The start is printed without its fraction, so a beat just before it may belong to the record.
    let length = max(0, min(end.microseconds &- start.microseconds, Self.quarter))
    if time > length + 60_000_000, Self.quarter - time <= 60_000_000 { time -= Self.quarter }
    guard let offset = Self.offset(first.position - startOfDay - time, isHalf: first.isHalf, nearest: nearest) else {
      return nil
    }
    format = first.time.text
    let style = WallClockStyle(format)
    var aligned: [UInt8] = []
    aligned.reserveCapacity(text.count)
    var isExact = style != nil
    var printed: [UInt8] = []
    var previous = first.position
    for beat in beats {
      var step = (beat.position - previous).modulo(Self.quarter)
      if step > Self.quarter / 2 { step -= Self.quarter }
      time += step
      previous = beat.position
      // The clock at the derived instant must show the printed time.
      let shown = startOfDay + time + offset
      guard (shown - beat.position).modulo(beat.isHalf ? Self.day / 2 : Self.day) == 0 else { return nil }
      if !aligned.isEmpty { aligned.append(UInt8(ascii: ";")) }
      aligned.append(contentsOf: beat.bpm.buffer)
      aligned.append(UInt8(ascii: "@"))
      aligned.append(seconds: time)
      printed.removeAll(keepingCapacity: true)
      style?.append(shown.modulo(Self.day), to: &printed)
      isExact = isExact && printed.elementsEqual(beat.time.buffer)
    }
    self.beats = String(decoding: aligned, as: UTF8.self)
    self.offset = Int(offset / 1_000_000)
    self.isExact = isExact
  }

  private struct Beat {
    var bpm: Bytes
    var time: Bytes
    /// The number of microseconds since midnight, or since midnight or noon if `isHalf` is true.
    var position: Int64
    var isHalf: Bool
  }

  private static func beats(_ text: Bytes) -> [Beat]? {
    var beats: [Beat] = []
    beats.reserveCapacity(text.count / 20)
    var rest = text
    while true {
      let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.count
      let beat = Bytes(rest.start, end)
      guard let at = beat.firstIndex(of: UInt8(ascii: "@")) else { return nil }
      let time = beat.dropFirst(at + 1)
      guard let position = WallClock(time)?.position else { return nil }
      beats.append(
        Beat(bpm: Bytes(beat.start, at), time: time, position: position.microseconds, isHalf: position.isHalf))
      if end == rest.count { return beats }
      rest = rest.dropFirst(end + 1)
    }
  }

  /// Returns the offset from -12 to +14 hours that equals `difference` modulo a day, or half a day if `isHalf`.
  private static func offset(_ difference: Int64, isHalf: Bool, nearest: Int) -> Int64? {
    let period = isHalf ? day / 2 : day
    let base = difference.modulo(period)
    let hour: Int64 = 3_600_000_000
    let candidates = (-2...2).map { base + Int64($0) * period }.filter { (-12 * hour...14 * hour).contains($0) }
    return candidates.min { abs($0 - Int64(nearest) * 1_000_000) < abs($1 - Int64(nearest) * 1_000_000) }
  }
}

extension [UInt8] {
  /// Appends microseconds as seconds: `-1.5` for -1,500,000.
  fileprivate mutating func append(seconds microseconds: Int64) {
    if microseconds < 0 { append(UInt8(ascii: "-")) }
    let (whole, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    append(digits: whole)
    if rest == 0 { return }
    append(UInt8(ascii: "."))
    append(digits: rest, width: 6)
    while last == UInt8(ascii: "0") { removeLast() }
  }

  /// - Parameter width: the minimum number of digits.
  private mutating func append(digits number: UInt64, width: Int = 1) {
    var place: UInt64 = 1
    for _ in 1..<width { place *= 10 }
    while number / place >= 10 { place *= 10 }
    while place > 0 {
      append(UInt8(ascii: "0") + UInt8(number / place % 10))
      place /= 10
    }
  }
}

extension Int64 {
  /// Returns the nonnegative remainder.
  func modulo(_ divisor: Int64) -> Int64 {
    let rest = self % divisor
    return rest < 0 ? rest + divisor : rest
  }
}

extension Timestamp {
  /// Whether the instant is so far away that arithmetic on it could overflow.
  fileprivate var isExtreme: Bool { abs(seconds) > 1 << 40 }
}

extension BeatClock {
  /// Returns the beats as `bpm@time;…`, with wall-clock times in the form of ``format``.
  ///
  /// - Parameter start: the start of the record.
  /// - Returns: `nil` if the beats or the format cannot be read.
  func printed(start: Timestamp) -> String? {
    // The offset comes from metadata, which may hold any value. No time zone is more than a day from UTC.
    guard let style = WallClockStyle(format), abs(Double(offset)) <= 86_400 else { return nil }
    var result: [UInt8] = []
    for beat in beats.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
      let parts = beat.split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let seconds = Double(Substring(parts[1])), abs(seconds) < 0x1p32 else { return nil }
      let shift = Int64((seconds * 1_000_000).rounded()) + Int64(offset) * 1_000_000
      let (instant, overflow) = start.microseconds.addingReportingOverflow(shift)
      if overflow { return nil }
      if !result.isEmpty { result.append(UInt8(ascii: ";")) }
      result.append(contentsOf: parts[0])
      result.append(UInt8(ascii: "@"))
      style.append(instant.modulo(Self.day), to: &result)
    }
    return String(decoding: result, as: UTF8.self)
  }
}
