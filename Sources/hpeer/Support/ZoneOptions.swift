import ArgumentParser
import Foundation
import HealthModel
import HealthStore

/// The options for the zone in which times without a zone are read and all times are printed. Both are decided here
/// alone. JSON has instants in UTC whatever the zone.
struct ZoneOptions: ParsableArguments {
  // Offsets west of Greenwich begin with a hyphen, as options do.
  @Option(
    parsing: .unconditional,
    help: "Read and print times in this zone (Europe/Berlin, +02:00) instead of this machine's.")
  var zone: ZoneArgument?
  @Flag(help: "The same as --zone UTC.")
  var utc = false

  func validate() throws {
    if zone != nil, utc { throw ValidationError("Give --zone or --utc, not both.") }
  }

  /// Whether a zone was asked for.
  var isNamed: Bool { utc || zone != nil }

  var timeZone: TimeZone { utc ? .gmt : zone?.timeZone ?? .current }

  func text(_ instant: Timestamp) -> String { instant.iso8601(in: timeZone) }

  /// Returns an instant to the second, for logs.
  func seconds(_ instant: Timestamp) -> String { text(Timestamp(seconds: instant.seconds)) }

  func date(_ instant: Timestamp) -> String { instant.date(in: timeZone) }
}

/// The zone options of a command about the record, whose days are those of its person.
struct HomeZoneOptions: ParsableArguments {
  // Offsets west of Greenwich begin with a hyphen, as options do.
  @Option(
    parsing: .unconditional,
    help: "Read and print times in this zone (Europe/Berlin, +02:00) instead of the home zone (hpeer zone).")
  var zone: ZoneArgument?
  @Flag(help: "The same as --zone UTC.")
  var utc = false

  func validate() throws {
    if zone != nil, utc { throw ValidationError("Give --zone or --utc, not both.") }
  }

  /// Returns the zone.
  ///
  /// - Parameter store: The store whose home zone counts; without a store, the machine's zone.
  func timeZone(in store: HealthStore?) async throws -> TimeZone {
    if utc { return .gmt }
    if let zone { return zone.timeZone }
    guard let store else { return .current }
    return try HomeZone(try await store.settings.current()).timeZone
  }
}

/// A zone given as an IANA name (`Europe/Berlin`, `UTC`) or as a UTC offset.
struct ZoneArgument: ExpressibleByArgument {
  let timeZone: TimeZone

  init?(argument: String) {
    if let offset = OffsetArgument(argument: argument), let zone = TimeZone(secondsFromGMT: offset.seconds) {
      timeZone = zone
    } else if let name = Self.name(of: argument), let zone = TimeZone(identifier: name) {
      timeZone = zone
    } else {
      return nil
    }
  }

  /// Returns the name of the zone that a text means; `nil` if there is none. Foundation also takes texts that are no
  /// names of zones, such as three letters that mean other zones elsewhere.
  private static func name(of text: String) -> String? {
    if ["utc", "gmt", "etc/utc"].contains(text.lowercased()) { return "UTC" }
    let zones = TimeZone.knownTimeZoneIdentifiers
    if let zone = zones.first(where: { $0.lowercased() == text.lowercased() }) { return zone }
    if let zone = abbreviated[text.uppercased()] { return zone }
    // A place alone, where only one zone is called after it: `Berlin`, `new york`.
    let place = text.lowercased().replacing(" ", with: "_")
    let places = zones.filter { $0.split(separator: "/").last?.lowercased() == place }
    return places.count == 1 ? places[0] : text.contains("/") ? text : nil
  }

  /// The abbreviations that mean one zone everywhere. Those of summer times are left out.
  private static let abbreviated = [
    "CET": "Europe/Brussels", "MEZ": "Europe/Berlin", "WET": "Europe/Lisbon", "EET": "Europe/Athens",
    "JST": "Asia/Tokyo", "AEST": "Australia/Brisbane", "HKT": "Asia/Hong_Kong", "SGT": "Asia/Singapore",
  ]
}

/// An offset from UTC: `+02:00`, `-0530`, `Z`.
struct OffsetArgument: ExpressibleByArgument {
  let seconds: Int

  init?(argument: String) {
    guard let instant = Timestamp(iso8601: "2000-01-01T00:00:00" + argument), !argument.isEmpty else { return nil }
    seconds = Int(946_684_800 - instant.seconds)
  }
}

extension Timestamp {
  /// Creates a timestamp to the microsecond.
  init(_ date: Date) {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    self.init(microseconds: Int64(exactly: microseconds) ?? (microseconds > 0 ? .max : .min))
  }
}

extension Date {
  /// The date as this machine's clock shows it, to the second, with its offset: for log lines, which no option
  /// affects.
  var localText: String { Timestamp(seconds: Timestamp(self).seconds).iso8601(in: .current) }

  init(_ instant: Timestamp) { self.init(timeIntervalSince1970: Double(instant.microseconds) / 1_000_000) }
}

extension Duration {
  /// The seconds to the millisecond, for reports in JSON.
  var reportedSeconds: Double { (self / .seconds(1) * 1000).rounded() / 1000 }
}

extension Timestamp {
  /// Returns an instant to the minute, without the offset, for tables whose times are all in one zone.
  func shortText(in zone: TimeZone) -> String {
    String(iso8601(in: zone).prefix(16)).replacingOccurrences(of: "T", with: " ")
  }
}
