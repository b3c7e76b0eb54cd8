import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem
import Terminal

/// The advice to set a home zone if the days of this machine's zone are not those of the record. It names zones that
/// fit.
struct ZoneAdvice {
  private let store: HealthStore
  /// The time up to which samples say where the person is.
  private let date: Timestamp
  /// The UTC offset of the phone's clock then, in seconds; `nil` if it is unknown.
  private let offset: Int?
  private let region: String?
  /// The machine that was pulled from, and the zone that its owner chose; `nil` if that is unknown.
  private let chosen: (machine: String, zone: TimeZone)?

  /// Creates the advice after an import.
  init(store: HealthStore, report: ImportReport) {
    (self.store, date, offset) = (store, report.exportDate ?? .now, report.exportDate == nil ? nil : report.utcOffset)
    region = report.locale.flatMap { Locale(identifier: $0).region?.identifier }
    chosen = nil
  }

  /// Creates the advice after a pull. The samples say where they were recorded, and the other machine may say which
  /// zone its owner chose.
  init(pulledInto store: HealthStore, from machine: String, zone: TimeZone?) async throws {
    var newest: Timestamp?
    for type in try await store.samples.typeCounts().map(\.type) {
      guard let last = try await store.samples.extent(of: type, in: Timestamp(microseconds: .min)..<Timestamp.now)
      else { continue }
      newest = max(newest ?? last.upperBound, last.upperBound)
    }
    (self.store, date, offset, region) = (store, newest ?? .now, nil, nil)
    chosen = zone.map { (machine, $0) }
  }

  /// The file that lists the zones of each country (tzdata).
  private static let table = "/usr/share/zoneinfo/zone.tab"
  private static let mostNamed = 3
  /// The number of days before the export from which samples say where they were recorded.
  private static let recent: Int64 = 180

  /// Prints the advice. Does nothing if a home zone was chosen, or if this machine's zone fits.
  func give() async throws {
    guard try await store.settings.current().homeZone == nil else { return }
    let instant = Date(timeIntervalSince1970: TimeInterval(date.seconds))
    let current = TimeZone.current
    let machine = PlainText.escaped(current.identifier, limit: 60)
    let cut = "Days are cut at the midnights of this machine's zone, \(machine)"
    if let chosen {
      if Self.agree(chosen.zone, current, at: instant) { return }
      let other = "\(PlainText.escaped(chosen.machine)) uses \(chosen.zone.identifier)"
      return try await offer([chosen.zone.identifier], "\(cut), and \(other)")
    }
    let recorded = try await recordedZones(before: date)
    // A zone with the same clock has the same days.
    let said = recorded.first.flatMap { TimeZone(identifier: $0) }
    guard let offset = offset ?? said?.secondsFromGMT(for: instant) else { return }
    let fits =
      current.secondsFromGMT(for: instant) == offset && (said.map { Self.agree($0, current, at: instant) } ?? true)
    if fits { return }
    let zones = candidates(recorded, offset, at: instant)
    let printed = Timestamp(seconds: date.seconds).iso8601(in: TimeZone(secondsFromGMT: offset) ?? .gmt).suffix(6)
    let other =
      self.offset == nil ? "most samples were recorded elsewhere" : "the phone's clock was at \(printed)"
    try await offer(zones, "\(cut), and \(other)")
  }

  /// Says what does not fit and, if a person can answer, asks whether the first of some zones is right.
  private func offer(_ names: [String], _ what: String) async throws {
    // Another machine may know zones that this one has no rules of.
    let zones = names.filter { (try? ZoneRules(named: $0)) != nil }
    guard let likely = zones.first else {
      return Console.say("\(what): `hpeer zone NAME` sets your home zone, such as Europe/Berlin.")
    }
    let others = zones.count > 1 ? " (or \(zones.dropFirst().joined(separator: ", ")))" : ""
    guard Console.isInteractive else {
      return Console.say("\(what): `hpeer zone \(likely)`\(others) sets your home zone.")
    }
    Console.say("\(what).")
    guard try await Prompt.confirm("Are your days those of \(likely)?") else {
      return Console.say("`hpeer zone \(likely)`\(others) sets your home zone.")
    }
    try await store.settings.setHomeZone(likely)
    Console.say("Days are those of \(likely) from now on; `hpeer zone` changes it.")
  }

  /// Returns whether two zones show the same time now and half a year before.
  private static func agree(_ one: TimeZone, _ other: TimeZone, at instant: Date) -> Bool {
    [instant, instant.addingTimeInterval(-183 * 86_400)].allSatisfy {
      one.secondsFromGMT(for: $0) == other.secondsFromGMT(for: $0)
    }
  }

  /// Returns the zones in which samples say that they were recorded, the most frequent first.
  private func recordedZones(before date: Timestamp) async throws -> [String] {
    let first = date.microseconds.subtractingReportingOverflow(Self.recent * 86_400_000_000).partialValue
    let counts = try await store.samples.numbers { reader in
      var counts: [String: Int] = [:]
      try reader.forEachZone(first..<max(first, date.microseconds)) { counts[$1, default: 0] += 1 }
      return counts
    }
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
      .filter { TimeZone(identifier: $0) != nil && $0.contains("/") }
  }

  private func candidates(_ recorded: [String], _ offset: Int, at instant: Date) -> [String] {
    func fits(_ name: String) -> Bool { TimeZone(identifier: name)?.secondsFromGMT(for: instant) == offset }
    let ofRegion = Self.zones(of: region)
    // A traveller's export was made elsewhere: home is where most was recorded.
    let named = recorded.prefix(1) + recorded.dropFirst().filter(fits) + ofRegion.filter(fits)
    let all = named.isEmpty ? TimeZone.knownTimeZoneIdentifiers.filter(fits) : Array(named)
    var seen: Set<String> = []
    return Array(all.filter { seen.insert($0).inserted }.prefix(Self.mostNamed))
  }

  private static func zones(of region: String?) -> [String] {
    guard let region, case .text(let text) = FileContents(path: table) else { return [] }
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: "\t")
      return fields.count > 2 && fields[0] == region ? String(fields[2]) : nil
    }
  }
}
