import Foundation
import HealthModel
import HealthStore

/// The reason why the rules of a time zone are not available.
public enum ZoneError: Error, Hashable, Sendable {
  /// The name is invalid or has no file in `/usr/share/zoneinfo`.
  case unknown(String)
  /// The file is malformed.
  ///
  /// - Parameter reason: a description for people.
  case malformed(_ reason: String)
}

/// The UTC offsets of a time zone over time, from the system's `/usr/share/zoneinfo`. Unlike data bundled with a
/// program, it is kept up to date.
///
/// ```swift
/// let berlin = try ZoneRules(named: "Europe/Berlin")
/// print(berlin.offset(at: 1_718_445_600))  // 7200
/// let day = berlin.day(19_889)             // 2024-06-15: from 00:00+02:00 to the next
/// print(day.upperBound - day.lowerBound)   // 86400
/// ```
public struct ZoneRules: Hashable, Sendable {
  /// The last year for which clock changes are precomputed from rules without an end.
  private static let lastYear = 2400
  private static let folder = "/usr/share/zoneinfo/"

  /// The IANA name, such as `Europe/Berlin`, or the name of a fixed offset.
  public let name: String
  /// The instants from which the offset of the same index applies, in seconds since 1970. The first is the beginning
  /// of time.
  private var starts: [Int64] = [.min]
  private var offsets: [Int]

  /// Creates a zone with a fixed offset.
  ///
  /// - Parameter seconds: seconds east of UTC, less than 26 hours in either direction.
  public init(offset seconds: Int, name: String) {
    self.name = name
    offsets = [min(max(seconds, ZoneRule.offsets.lowerBound), ZoneRule.offsets.upperBound)]
  }

  /// Reads the rules of a zone from its file, by its name in the IANA database, `Europe/Berlin`.
  ///
  /// - Throws: ``ZoneError``.
  public init(named name: String) throws(ZoneError) {
    guard Self.isName(name), let data = FileManager.default.contents(atPath: Self.folder + name) else {
      throw .unknown(name)
    }
    try self.init(tzif: [UInt8](data), name: name)
  }

  /// Creates the rules of a Foundation time zone: an IANA name, or a fixed UTC offset.
  public init(_ zone: TimeZone) throws(ZoneError) {
    do throws(ZoneError) {
      try self.init(named: zone.identifier)
    } catch {
      // Foundation's names for fixed offsets have no files; see `TimeZone(secondsFromGMT:)`.
      guard case .unknown = error, zone.identifier.hasPrefix("GMT") else { throw error }
      self.init(offset: zone.secondsFromGMT(), name: zone.identifier)
    }
  }

  /// Creates the rules of the person's home zone: the configured zone, or else that of this machine.
  public init(homeOf settings: AnalysisSettings) throws(ZoneError) {
    try self.init(settings.homeZone.flatMap(TimeZone.init(identifier:)) ?? .current)
  }

  /// Creates rules from a TZif file.
  ///
  /// - Parameter tzif: the bytes of the file (RFC 8536).
  public init(tzif bytes: [UInt8], name: String) throws(ZoneError) {
    let file = try TZif(bytes)
    self.name = name
    offsets = [file.first]
    for (time, offset) in zip(file.transitions, file.offsets) { append(time, offset) }
    guard let rule = file.rule else { return }
    let last = starts.count > 1 ? starts[starts.count - 1] : .min
    let year = last == .min ? 1900 : Timestamp(seconds: last).civil.year
    if starts.count == 1 { offsets = [rule.standard] }
    for year in max(min(year, Self.lastYear), 1)...Self.lastYear {
      for change in rule.transitions(in: year) where change.time > starts[starts.count - 1] {
        append(change.time, change.offset)
      }
    }
  }

  /// The rules of a zone from an instant on.
  struct Piece: Hashable, Sendable {
    /// Seconds since 1970.
    var start: Int64
    var rules: ZoneRules
  }

  /// Creates rules from consecutive zones, each of which applies until the next begins.
  ///
  /// - Parameter pieces: at least one, with ascending starts.
  init(pieces: [Piece], name: String) {
    self.name = name
    offsets = [pieces[0].rules.offset(at: pieces[0].start)]
    for (index, piece) in pieces.enumerated() {
      let end = index + 1 < pieces.count ? pieces[index + 1].start : .max
      if index > 0 { append(piece.start, piece.rules.offset(at: piece.start)) }
      var change = piece.rules.segment(at: piece.start) + 1
      while change < piece.rules.starts.count, piece.rules.starts[change] < end {
        append(piece.rules.starts[change], piece.rules.offsets[change])
        change += 1
      }
    }
  }

  /// Appends an offset. A transition that changes only the name or the daylight saving flag is skipped.
  private mutating func append(_ time: Int64, _ offset: Int) {
    if offset == offsets[offsets.count - 1] { return }
    starts.append(time)
    offsets.append(offset)
  }

  private static func isName(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return text.utf8.count <= 64
      && parts.allSatisfy { part in
        part.first.map { $0 != UInt8(ascii: ".") } == true
          && part.allSatisfy {
            ($0 >= 0x30 && $0 <= 0x39) || (($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A) || "+-_".utf8.contains($0)
          }
      }
  }

  // MARK: Clocks

  /// Returns the UTC offset in seconds east of UTC.
  ///
  /// - Parameter seconds: seconds since 1970.
  public func offset(at seconds: Int64) -> Int {
    offsets[segment(at: seconds)]
  }

  /// Returns the index of the offset in force.
  private func segment(at seconds: Int64) -> Int {
    var (low, high) = (0, starts.count)
    while low + 1 < high {
      let middle = (low + high) / 2
      if starts[middle] <= seconds { low = middle } else { high = middle }
    }
    return low
  }

  /// Returns the local date in days since 1970-01-01.
  public func dayNumber(at seconds: Int64) -> Int {
    let local = Int(seconds) + offset(at: seconds)
    return local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
  }

  /// Returns the range from the first instant with this date to the first with a later date: usually 86,400 seconds,
  /// and empty for a date that was skipped.
  ///
  /// - Parameter number: days since 1970-01-01.
  public func day(_ number: Int) -> Range<Int64> {
    start(ofDay: number)..<start(ofDay: number + 1)
  }

  /// Returns the first instant with this date or a later one, in seconds since 1970.
  public func start(ofDay number: Int) -> Int64 {
    let midnight = Int64(number) * 86_400
    // No clock shows this date earlier.
    var index = segment(at: midnight + Int64(ZoneRule.offsets.lowerBound))
    while true {
      let instant = max(starts[index], midnight - Int64(offsets[index]))
      if index + 1 == starts.count || instant < starts[index + 1] { return instant }
      index += 1
    }
  }

  /// Returns the instants in a range at which clocks show a full hour or are changed, where hourly buckets begin.
  func hourStarts(in range: Range<Int64>) -> [Int64] {
    var result: [Int64] = []
    var index = segment(at: range.lowerBound)
    while index < starts.count, starts[index] < range.upperBound {
      let end = index + 1 < starts.count ? min(starts[index + 1], range.upperBound) : range.upperBound
      let begin = max(starts[index], range.lowerBound)
      if starts[index] >= range.lowerBound { result.append(begin) }
      let rest = (begin + Int64(offsets[index])) % 3600
      var hour = begin + (rest == 0 ? 0 : rest < 0 ? -rest : 3600 - rest)
      if hour == result.last { hour += 3600 }
      while hour < end {
        result.append(hour)
        hour += 3600
      }
      index += 1
    }
    return result
  }
}
