import HealthModel
import HealthStore

/// The time zones in which a person was over time. At any instant it is the zone of the newest sample at or before it
/// (`HKMetadataKeyTimeZone`), if that is no older than 36 hours, otherwise the home zone.
///
/// ```swift
/// let home = try ZoneRules(named: "Europe/Berlin")
/// var travel = TravelZones(home: home)
/// travel.add(1_718_445_600, "America/New_York")
/// let rules = travel.finish()
/// print(rules.offset(at: 1_718_445_600), rules.offset(at: 1_718_445_600 + 36 * 3600 + 1))  // -14400 7200
/// ```
public struct TravelZones {
  /// The time for which a sample determines the zone, in seconds.
  static let lasting: Int64 = 36 * 3600
  /// The maximum number of names in the cache, so that invalid names cannot fill the memory.
  private static let knownLimit = 1_000

  private let home: ZoneRules
  private var pieces: [ZoneRules.Piece]
  private var known: [String: ZoneRules?] = [:]
  /// The last second for which the last sample determines the zone.
  private var end = Int64.min

  /// Creates a history that consists of the home zone.
  ///
  /// - Parameter home: the zone for times without another.
  public init(home: ZoneRules) {
    self.home = home
    pieces = [ZoneRules.Piece(start: .min, rules: home)]
  }

  /// Adds the zone of a sample.
  ///
  /// - Parameters:
  ///   - start: seconds since 1970, not before that of the previous sample; greater than `Int64.min`.
  ///   - name: the name in the sample; ignored if there is no such zone.
  public mutating func add(_ start: Int64, _ name: String) {
    guard let rules = rules(named: name) else { return }
    goHome(before: start)
    // Of several samples at the same time, the last counts.
    if pieces[pieces.count - 1].start == start { pieces.removeLast() }
    if pieces[pieces.count - 1].rules.name != rules.name { pieces.append(.init(start: start, rules: rules)) }
    let (last, isTooFar) = start.addingReportingOverflow(Self.lasting)
    end = isTooFar ? .max : last
  }

  /// Returns the rules for all of time.
  public mutating func finish() -> ZoneRules {
    goHome(before: .max)
    return ZoneRules(pieces: pieces, name: "travel")
  }

  private mutating func goHome(before start: Int64) {
    guard pieces.count > 1, end < start - 1, pieces[pieces.count - 1].rules.name != home.name else { return }
    pieces.append(.init(start: end + 1, rules: home))
  }

  private mutating func rules(named name: String) -> ZoneRules? {
    if let rules = known[name] { return rules }
    if known.count >= Self.knownLimit { known.removeAll() }
    let rules = try? ZoneRules(named: name)
    known[name] = .some(rules)
    return rules
  }
}

extension ZoneRules {
  /// Returns the zones in which a store's samples were recorded, as a single set of rules.
  ///
  /// - Parameters:
  ///   - range: the relevant range, outside of which `home` applies; `nil` for all time.
  ///   - home: the zone for times without another.
  public static func travel(
    in store: HealthStore, _ range: Range<Timestamp>? = nil, home: ZoneRules
  ) async throws(StoreError) -> ZoneRules {
    try await store.samples.numbers { reader in
      var zones = TravelZones(home: home)
      let reach = TravelZones.lasting * 1_000_000
      let start = range.map { $0.lowerBound.microseconds.subtractingReportingOverflow(reach) }
      let first = start.map { $0.overflow ? Int64.min : $0.partialValue } ?? .min
      try reader.forEachZone(first..<(range?.upperBound.microseconds ?? .max)) { start, name in
        zones.add(Timestamp(microseconds: start).roundedUpToSecond.seconds, name)
      }
      return zones.finish()
    }
  }
}
