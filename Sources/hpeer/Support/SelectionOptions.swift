import ArgumentParser
import Foundation
import HealthModel
import HealthStore
import Terminal

/// `--types`, as often as one likes.
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

  /// Each once, in the order given; empty where none was named.
  var types: [SampleType] {
    var seen: Set<SampleType> = []
    return (lists + olderLists).joined().filter { seen.insert($0).inserted }
  }

  /// `nil` where none was named, which means all.
  var set: Set<SampleType>? { types.isEmpty ? nil : Set(types) }

  /// The same for what is handed on: see `withMembers`.
  var setWithMembers: Set<SampleType>? { types.isEmpty ? nil : Set(types.withMembers) }
}

/// `--source`, as often as one likes: a name may have commas.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .customLong("source"),
    help: ArgumentHelp(
      "Only samples of the source with this name, such as an app or a watch; may be repeated.", valueName: "name"),
    completion: .sources)
  var names: [String] = []

  /// `nil` where none was named, which means all.
  var set: Set<String>? { names.isEmpty ? nil : Set(names) }

  var isGiven: Bool { !names.isEmpty }

  /// A name as it can be typed: devices are called Robin’s iPhone, with an apostrophe and spaces that no keyboard has.
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

  /// The names as the store has them, whatever their case here, and with plain apostrophes; `nil` where none was given. Throws where one of them has never
  /// had a sample here: a name that is mistyped must not read like one without samples.
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

/// `--from`, of which `--since` is the older name.
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

  /// Where it begins.
  func bound(in zone: TimeZone, now: Timestamp) -> DateBound? { (from ?? since)?.bounds(in: zone, now: now).start }
}

/// `--from`, `--to` and `--on`, whatever the zone.
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

  /// What they mean where clocks are those of a zone.
  func bounds(in zone: TimeZone, now: Timestamp) -> (start: DateBound?, end: DateBound?) {
    if let on { return on.bounds(in: zone, now: now) }
    return (beginning.bound(in: zone, now: now), (to ?? until)?.bounds(in: zone, now: now).end)
  }
}

/// `--from`, `--to`, `--on` and `--zone` of a command about this machine: without a zone, the machine's.
struct PeriodOptions: ParsableArguments {
  @OptionGroup var dates: DateOptions
  @OptionGroup var zone: ZoneOptions

  func validate() throws { _ = try period }

  var period: Period { get throws { try Period(dates, in: zone.timeZone) } }
}

/// The same of a command about the record: without a zone, that of its person, as in all questions.
struct RecordPeriodOptions: ParsableArguments {
  @OptionGroup var dates: DateOptions
  @OptionGroup var zone: HomeZoneOptions

  /// Whether any of them was given.
  var isBounded: Bool { dates.hasStart || dates.hasEnd }

  /// Throws where the time is empty.
  ///
  /// - Parameter store: of the person; without one, the machine's zone counts.
  func period(in store: HealthStore?) async throws -> Period {
    try Period(dates, in: try await zone.timeZone(in: store))
  }
}

/// A part of time, and the zone in which a person has named it.
struct Period {
  let zone: TimeZone
  let start: Timestamp?
  /// Not included.
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

  /// What starts in this time, of these types and sources.
  ///
  /// - Parameter sources: names; `nil` for all.
  func filter(_ types: Set<SampleType>?, _ sources: Set<String>?) -> SampleFilter {
    SampleFilter(types: types, earliest: start, end: end, sources: sources)
  }

  /// All of time where neither end is given.
  var range: Range<Timestamp> {
    (start ?? Timestamp(microseconds: .min))..<(end ?? Timestamp(microseconds: .max))
  }

  /// An instant with its offset.
  func text(_ instant: Timestamp) -> String { instant.iso8601(in: zone) }

  /// Throws where clocks are put back and `--from` or `--to` may mean two instants: what changes the record must not guess.
  func requireNoDoubt() throws {
    guard let doubt = bounds.lazy.map({ $0.doubt(in: zone) }).first(where: { !$0.isEmpty }) else { return }
    let choices = doubt.map(text).joined(separator: " or ")
    throw ValidationError("This time occurred twice, because clocks were set back. Choose \(choices).")
  }
}
