import HealthModel
import HealthStore

/// Where a person was when: at any instant the zone that the newest sample at or before it says (`HKMetadataKeyTimeZone`), if that is no
/// older than 36 hours, else the home zone.
///
/// ```swift
/// let home = try ZoneRules(named: "Europe/Berlin")
/// var travel = TravelZones(home: home)
/// travel.add(1_718_445_600, "America/New_York")
/// let rules = travel.finish()
/// print(rules.offset(at: 1_718_445_600), rules.offset(at: 1_718_445_600 + 36 * 3600 + 1))  // -14400 7200
/// ```
public struct TravelZones {
  /// For how long a sample says where somebody is, in seconds.
  static let lasting: Int64 = 36 * 3600
  /// Names that are none are no reason to keep more than this.
  private static let knownLimit = 1_000

  private let home: ZoneRules
  private var pieces: [ZoneRules.Piece]
  private var known: [String: ZoneRules?] = [:]
  /// The second up to which the last sample says where one is, that one included.
  private var end = Int64.min

  /// - Parameter home: the zone where nothing says another.
  public init(home: ZoneRules) {
    self.home = home
    pieces = [ZoneRules.Piece(start: .min, rules: home)]
  }

  /// - Parameters:
  ///   - start: seconds since 1970, no earlier than that of the sample before; greater than `Int64.min`.
  ///   - name: as the sample says it; what is no zone says nothing.
  public mutating func add(_ start: Int64, _ name: String) {
    guard let rules = rules(named: name) else { return }
    goHome(before: start)
    // Of several at one time the last counts.
    if pieces[pieces.count - 1].start == start { pieces.removeLast() }
    if pieces[pieces.count - 1].rules.name != rules.name { pieces.append(.init(start: start, rules: rules)) }
    let (last, isTooFar) = start.addingReportingOverflow(Self.lasting)
    end = isTooFar ? .max : last
  }

  /// All of time in one.
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
  /// The zones in which a store's samples were recorded, one after the other.
  ///
  /// - Parameters:
  ///   - range: the time that matters; outside it is `home`. `nil` for all of it.
  ///   - home: the zone where nothing says another.
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
