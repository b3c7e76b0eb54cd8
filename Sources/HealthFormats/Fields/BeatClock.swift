import HealthModel

/// Finds out when heart beats were whose times Apple prints as the wall clock of the place showed them.
///
/// A record's dates have the offset of the phone at the export, its beats the true local time, in the format of the
/// person's locale. All offsets are whole quarters of an hour, so the minutes within a quarter say the instant: the
/// first beat is the first such instant at or after the record's start (at most 15 minutes later), each further one
/// follows at the distance that the clock shows.
struct BeatClock {
  /// `bpm@seconds;…`, in seconds after the record's start.
  var beats: String
  /// Seconds east of UTC of the clock.
  var offset: Int
  /// The first beat's time as it was printed, which shows the format of all.
  var format: String

  init(beats: String, offset: Int, format: String) {
    self.beats = beats
    self.offset = offset
    self.format = format
  }

  private static let quarter: Int64 = 900_000_000
  private static let day: Int64 = 86_400_000_000

  /// - Parameters:
  ///   - text: `bpm@time;…` as printed.
  ///   - start: of the record, in whole seconds.
  ///   - nearest: the offset that is the likeliest, in seconds: where a clock of 12 hours leaves two, or none
  ///     distinguishes +13 from -11 hours, the nearer one is taken.
  /// - Returns: `nil` for beats that do not fit to one clock and one offset.
  init?(_ text: String, start: Timestamp, end: Timestamp, nearest: Int) {
    var beats: [(bpm: Substring, clock: WallClock, position: Int64, isHalf: Bool)] = []
    for beat in text.split(separator: ";", omittingEmptySubsequences: false) {
      let parts = beat.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let clock = WallClock(parts[1]), let position = clock.position else { return nil }
      beats.append((parts[0], clock, position.microseconds, position.isHalf))
    }
    guard let first = beats.first, !start.isExtreme else { return nil }
    let startOfDay = start.microseconds.modulo(Self.day)
    var time = (first.position - startOfDay).modulo(Self.quarter)
    // The start is printed without its fraction, and a beat may belong to it that was just before.
    let length = max(0, min(end.microseconds &- start.microseconds, Self.quarter))
    if time > length + 60_000_000, Self.quarter - time <= 60_000_000 { time -= Self.quarter }
    guard let offset = Self.offset(first.position - startOfDay - time, isHalf: first.isHalf, nearest: nearest) else {
      return nil
    }
    var lines: [String] = []
    var previous = first.position
    for beat in beats {
      var step = (beat.position - previous).modulo(Self.quarter)
      if step > Self.quarter / 2 { step -= Self.quarter }
      time += step
      previous = beat.position
      // The clock at that instant must be the clock that was printed.
      let shown = startOfDay + time + offset
      guard (shown - beat.position).modulo(beat.isHalf ? Self.day / 2 : Self.day) == 0 else { return nil }
      lines.append("\(beat.bpm)@\(Self.seconds(time))")
    }
    self.beats = lines.joined(separator: ";")
    self.offset = Int(offset / 1_000_000)
    format = String(text.prefix { $0 != ";" }.drop { $0 != "@" }.dropFirst())
  }

  /// The offset from -12 to +14 hours that is `difference` up to whole days (or halves of them).
  private static func offset(_ difference: Int64, isHalf: Bool, nearest: Int) -> Int64? {
    let period = isHalf ? day / 2 : day
    let base = difference.modulo(period)
    let hour: Int64 = 3_600_000_000
    let candidates = (-2...2).map { base + Int64($0) * period }.filter { (-12 * hour...14 * hour).contains($0) }
    return candidates.min { abs($0 - Int64(nearest) * 1_000_000) < abs($1 - Int64(nearest) * 1_000_000) }
  }

  /// `-1.5` of -1,500,000.
  private static func seconds(_ microseconds: Int64) -> String {
    let (whole, rest) = abs(microseconds).quotientAndRemainder(dividingBy: 1_000_000)
    let sign = microseconds < 0 ? "-" : ""
    if rest == 0 { return "\(sign)\(whole)" }
    var digits = String(rest + 1_000_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(sign)\(whole).\(digits)"
  }
}

extension Int64 {
  /// The remainder that is not negative.
  fileprivate func modulo(_ divisor: Int64) -> Int64 {
    let rest = self % divisor
    return rest < 0 ? rest + divisor : rest
  }
}

extension Timestamp {
  /// Beyond what arithmetic on it could hold.
  fileprivate var isExtreme: Bool { abs(seconds) > 1 << 40 }
}
