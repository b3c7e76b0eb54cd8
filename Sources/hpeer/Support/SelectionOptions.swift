import ArgumentParser
import Foundation
import HealthModel
import HealthStore
import Terminal

/// The option `--types`, which may be repeated.
struct TypeOptions: ParsableArguments {
  @Option(
    name: .customLong("types"),
    help: ArgumentHelp(
      "Only these types: short names (stepCount) or HealthKit identifiers, comma-separated; may be repeated.",
      valueName: "types"),
    completion: .typeLists, transform: SampleType.list)
  var lists: [[SampleType]] = []
  @Option(name: .customLong("type"), help: .hidden, transform: SampleType.list)
  var olderLists: [[SampleType]] = []

  /// The named types without duplicates, in the order given; empty if none was named.
  var types: [SampleType] {
    var seen: Set<SampleType> = []
    return (lists + olderLists).joined().filter { seen.insert($0).inserted }
  }

  /// The named types; `nil` if none was named, which means all.
  var set: Set<SampleType>? { types.isEmpty ? nil : Set(types) }

  /// The named types and the members of correlations, for data that is handed on; see `withMembers`. `nil` for all.
  var setWithMembers: Set<SampleType>? { types.isEmpty ? nil : Set(types.withMembers) }
}

/// The option `--source`, which may be repeated: a name may have commas.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .customLong("source"),
    help: ArgumentHelp(
      "Only samples of the source with this name, such as an app or a watch; may be repeated.", valueName: "name"),
    completion: .sources)
  var names: [String] = []

  /// The named sources; `nil` if none was named, which means all.
  var set: Set<String>? { names.isEmpty ? nil : Set(names) }

  var isGiven: Bool { !names.isEmpty }

  /// Returns a name as it can be typed: devices are called Robin’s iPhone, with an apostrophe and spaces that no
  /// keyboard has.
  private static func typed(_ name: String) -> String {
    String(
      name.lowercased().map { character in
        switch character {
        case "’", "‘", "ʼ", "`", "´": "'"
        case "“", "”": "\""
        case "\u{A0}", "\u{202F}": " "
        default: character
        }
      })
  }

  /// Returns the names as the store has them; `nil` if none was given. Case and typographic apostrophes need not
  /// match.
  ///
  /// - Throws: `ValidationError` if a name has never had a sample here: a mistyped name must not look like a source
  ///   without samples.
  func known(in store: HealthStore) async throws -> Set<String>? {
    guard let (found, unknowns, known) = try await matches(in: store) else { return nil }
    guard let unknown = unknowns.min() else { return found }
    let names = known.sorted().prefix(20).map { "\"\(PlainText.escaped($0, limit: 60))\"" }
    throw ValidationError(
      "There are no samples from a source called \"\(PlainText.escaped(unknown, limit: 60))\": "
        + (names.isEmpty
          ? "there is none at all."
          : "there are \(names.joined(separator: ", "))\(known.count > 20 ? " and others" : "")."))
  }

  /// The names as the store has them; those that it doesn't have are kept as they were typed, and said. For limits that may be set
  /// before there is anything of a source.
  func resolved(in store: HealthStore?) async throws -> Set<String>? {
    guard let store, let (found, unknowns, _) = try await matches(in: store) else { return set }
    for name in unknowns {
      Console.warn("there is no sample of a source called \"\(PlainText.escaped(name, limit: 60))\" here yet.")
    }
    return found.union(unknowns)
  }

  /// The names that a store has for those that were typed, those that it has not, and all that it has; nil if none was given.
  private func matches(
    in store: HealthStore
  ) async throws -> (found: Set<String>, unknown: [String], known: Set<String>)? {
    guard let set else { return nil }
    let known = Set(try await store.samples.sourceNames())
    var found: Set<String> = []
    var unknowns: [String] = []
    for name in set.sorted() {
      let alike = known.contains(name) ? [name] : known.filter { Self.typed($0) == Self.typed(name) }
      if alike.isEmpty { unknowns.append(name) }
      found.formUnion(alike)
    }
    return (found, unknowns, known)
  }
}

/// The option `--from`. `--since` is its older name.
struct FromOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only what starts on or after this date (2024-06-15, 2024-06, yesterday, 7d, \"last month\") or time "
        + "(2024-06-15T10:30).", valueName: "date"))
  var from: DateArgument?
  @Option(help: .hidden)
  var since: DateArgument?

  func validate() throws {
    if from != nil, since != nil { throw ValidationError("--since is another name of --from: give one of them.") }
  }

  var isGiven: Bool { from != nil || since != nil }

  /// Returns the start in a zone; `nil` if none was given.
  func bound(in zone: TimeZone, now: Timestamp) -> DateBound? { (from ?? since)?.bounds(in: zone, now: now).start }
}

/// The options `--from`, `--to` and `--on`, without a zone.
struct DateOptions: ParsableArguments {
  @OptionGroup var beginning: FromOption
  @Option(help: ArgumentHelp("Only what starts on or before this date, or before this time.", valueName: "date"))
  var to: DateArgument?
  @Option(help: .hidden)
  var until: DateArgument?
  @Option(
    help: ArgumentHelp(
      "Only what starts on this date or in this period: 2024-06-15, \"last week\", \"nov 2026\", monday. Replaces --from "
        + "and --to.", valueName: "date"))
  var on: PeriodArgument?

  func validate() throws {
    if to != nil, until != nil { throw ValidationError("--until is another name of --to: give one of them.") }
    if on != nil {
      guard !beginning.isGiven, to ?? until == nil else {
        throw ValidationError("--on cannot be combined with --from or --to.")
      }
    }
  }

  var hasStart: Bool { on != nil || beginning.isGiven }
  var hasEnd: Bool { on != nil || (to ?? until) != nil }

  /// Returns the bounds that the options mean in a zone.
  func bounds(in zone: TimeZone, now: Timestamp) -> (start: DateBound?, end: DateBound?) {
    if let on { return on.bounds(in: zone, now: now) }
    return (beginning.bound(in: zone, now: now), (to ?? until)?.bounds(in: zone, now: now).end)
  }
}

/// The options `--from`, `--to`, `--on` and `--zone` of a command about this machine. The default is the machine's
/// zone.
struct PeriodOptions: ParsableArguments {
  @OptionGroup var dates: DateOptions
  @OptionGroup var zone: ZoneOptions

  func validate() throws { _ = try period }

  var period: Period { get throws { try Period(dates, in: zone.timeZone) } }
}

/// The options `--from`, `--to`, `--on` and `--zone` of a command about the record. The default is the home zone of
/// its person, as in all queries.
struct RecordPeriodOptions: ParsableArguments {
  @OptionGroup var dates: DateOptions
  @OptionGroup var zone: HomeZoneOptions

  /// Whether a start or an end was given.
  var isBounded: Bool { dates.hasStart || dates.hasEnd }

  /// Returns the period. Throws if it is empty.
  ///
  /// - Parameter store: The store whose home zone counts; without a store, the machine's zone.
  func period(in store: HealthStore?) async throws -> Period {
    try Period(dates, in: try await zone.timeZone(in: store))
  }
}

/// A period of time, and the zone in which it was given.
struct Period {
  let zone: TimeZone
  let start: Timestamp?
  /// The end, not included.
  let end: Timestamp?
  private let bounds: [DateBound]

  init(_ dates: DateOptions, in zone: TimeZone, now: Timestamp = .now) throws {
    self.zone = zone
    let meant = dates.bounds(in: zone, now: now)
    start = meant.start?.start(in: zone, now: now)
    end = meant.end?.end(in: zone, now: now)
    bounds = [meant.start, meant.end].compactMap(\.self)
    if let start, let end, start >= end { throw ValidationError("--from must be before --to.") }
  }

  /// Returns a filter for what starts in this period, of these types and sources.
  ///
  /// - Parameter sources: The names; `nil` for all.
  func filter(_ types: Set<SampleType>?, _ sources: Set<String>?) -> SampleFilter {
    SampleFilter(types: types, earliest: start, end: end, sources: sources)
  }

  /// The period as a range, open on a side without a bound.
  var range: Range<Timestamp> {
    (start ?? Timestamp(microseconds: .min))..<(end ?? Timestamp(microseconds: .max))
  }

  /// Returns an instant with its UTC offset.
  func text(_ instant: Timestamp) -> String { instant.iso8601(in: zone) }

  /// Throws if clocks were set back and `--from` or `--to` may mean two instants: a change to the record must not
  /// guess.
  func requireNoDoubt() throws {
    guard let doubt = bounds.lazy.map({ $0.doubt(in: zone) }).first(where: { !$0.isEmpty }) else { return }
    let choices = doubt.map(text).joined(separator: " or ")
    throw ValidationError("This time occurred twice, because clocks were set back. Choose \(choices).")
  }
}
