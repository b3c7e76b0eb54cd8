import ArgumentParser
import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// The options of all commands that query a record: `--source`, `--from`, `--to`, `--on`, `--zone`, `--units`.
struct QuestionOptions: ParsableArguments {
  @OptionGroup var dates: DateOptions
  @OptionGroup var sources: SourceOptions
  @OptionGroup var zone: QuestionZoneOptions
  @OptionGroup var units: UnitOptions

  /// Returns the query of a store, in the home zone of its person. Throws if a source is unknown or the time is
  /// empty.
  func question(to store: HealthStore, now: Timestamp = .now) async throws -> Question {
    try await Question(
      dates: dates, zone: zone, sources: try await sources.known(in: store), units: units.choice, to: store, now: now)
  }
}

/// The option `--strict` of commands whose numbers apps may have sent.
struct StrictOption: ParsableArguments {
  @Flag(help: "Count only samples, without the totals and means that apps have sent.")
  var strict = false

  var readings: ReadingRule { strict ? .none : .all }
}

extension Question {
  /// Says when the newest sample is, if the time that was asked about has none.
  func sayNewest(of types: [SampleType], in store: HealthStore) async throws {
    var newest: Timestamp?
    for type in types {
      guard let last = try await store.samples.extent(of: type)?.upperBound else { continue }
      newest = max(newest ?? last, last)
    }
    guard let newest else { return Console.say("There is none at any time. `hpeer types` lists what the store holds.") }
    Console.say("The newest is of \(CalendarDay(zone.dayNumber(at: newest.seconds)).text).")
  }
}

/// A query for a part of a record, and how to show it.
struct Question {
  /// The zone whose days count and in which all times are printed.
  let zone: ZoneRules
  /// The home zone of the person, in which times without a zone are read unless `--zone` names another.
  let home: HomeZone
  /// The start; `nil` for the beginning of the record.
  let start: Timestamp?
  /// The end, not included; `nil` for the end of the record.
  let end: Timestamp?
  /// The names of sources; `nil` for all.
  let sources: Set<String>?
  /// The chosen units, which also count for other programs.
  let units: UnitChoice
  /// The units of tables and charts.
  let unitsForPeople: UnitChoice
  let now: Timestamp
  /// The rule that says which readings of apps count.
  var readings = ReadingRule.all
  /// The same zone as Foundation knows it; `nil` for `travel`, which is several zones.
  private let timeZone: TimeZone?

  init(
    dates: DateOptions? = nil, zone options: QuestionZoneOptions, sources: Set<String>? = nil,
    units: UnitChoice = UnitChoice(), to store: HealthStore, now: Timestamp = .now
  ) async throws {
    let settings = try await store.settings.current()
    home = try HomeZone(settings)
    unitsForPeople = units.forPeople(usual: UsualUnits(settings).choice)
    let reading: TimeZone
    switch options.utc ? .named(.gmt) : options.zone {
    case .named(let named): (reading, zone) = (named, try ZoneRules(named))
    case .home: (reading, zone) = (home.timeZone, home.rules)
    case .travel: (reading, zone) = (home.timeZone, try await .travel(in: store, home: home.rules))
    }
    timeZone = options.zone == .travel && !options.utc ? nil : reading
    let meant = dates?.bounds(in: reading, now: now) ?? (start: nil, end: nil)
    let bounds = (meant.start?.start(in: reading, now: now), meant.end?.end(in: reading, now: now))
    // Whole days begin with those of the zone, wherever the person was then.
    let (rules, isTravel) = ((home: home.rules, zone: zone), timeZone == nil)
    func moved(_ instant: Timestamp?, _ bound: DateBound?) -> Timestamp? {
      guard isTravel, let instant, bound?.isWholeDays == true else { return instant }
      return Timestamp(seconds: rules.zone.start(ofDay: rules.home.dayNumber(at: instant.seconds)))
    }
    start = moved(bounds.0, meant.start)
    end = moved(bounds.1, meant.end)
    (self.sources, self.units, self.now) = (sources, units, now)
    if let start, let end, start >= end { throw ValidationError("--from must be before --to.") }
  }

  /// The time as a range, open on a side without a bound.
  var range: Range<Timestamp> {
    (start ?? Timestamp(microseconds: .min))..<(end ?? Timestamp(microseconds: .max))
  }

  /// The range without implausible times, on each side without a bound of its own.
  var limits: Range<Timestamp> { PlausibleTime.limits(from: start, to: end, now: now) }

  /// The first and the last day, in days since 1970-01-01; `nil` if that end is open.
  var days: (first: Int?, last: Int?) {
    (
      start.map { zone.dayNumber(at: $0.seconds) },
      end.map { zone.dayNumber(at: Timestamp(microseconds: $0.microseconds - 1).seconds) }
    )
  }

  /// Returns an instant with its offset, `Z` in UTC.
  func text(_ instant: Timestamp) -> String { timeZone.map(instant.iso8601) ?? zone.text(instant) }

  /// Returns an instant to the second, with its offset.
  func seconds(_ instant: Timestamp) -> String { text(Timestamp(seconds: instant.seconds)) }

  /// Returns the range of another period, to compare with. Throws if it is empty.
  func range(of period: PeriodArgument) throws -> Range<Timestamp> {
    let reading = timeZone ?? home.timeZone
    let bounds = period.bounds(in: reading, now: now)
    let (start, end) = (bounds.start.start(in: reading, now: now), bounds.end.end(in: reading, now: now))
    guard start < end else { throw ValidationError("The period is empty.") }
    return start..<end
  }

  /// The current date, in days since 1970-01-01.
  var today: Int { zone.dayNumber(at: now.seconds) }

  /// Returns the query for the numbers of a type.
  ///
  /// - Parameter start: The start, which need not be that of the whole query.
  func statistics(
    of type: SampleType, by size: BucketSize, from start: Timestamp?, to end: Timestamp?,
    weekStartsOnSunday: Bool = false
  ) -> StatisticsQuery {
    var query = StatisticsQuery(type, by: size, in: zone, now: now)
    (query.start, query.end, query.sources) = (start, end, sources)
    query.weekStartsOnSunday = weekStartsOnSunday
    query.isPlausibleOnly = true
    query.readings = readings
    return query
  }
}

/// The options for the zone whose days count and in which times are printed.
struct QuestionZoneOptions: ParsableArguments {
  // Offsets west of Greenwich begin with a hyphen, as options do.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The zone of days and times: a zone (Europe/Berlin, +02:00), home (set with `hpeer zone`), or travel (the zones in "
        + "which samples were recorded).", valueName: "zone"))
  var zone = QuestionZone.home
  @Flag(help: "The same as --zone UTC.")
  var utc = false

  func validate() throws {
    if utc, zone != .home { throw ValidationError("Give --zone or --utc, not both.") }
  }
}

/// The value of `--zone`.
enum QuestionZone: ExpressibleByArgument, Hashable {
  case home
  case travel
  case named(TimeZone)

  init?(argument: String) {
    switch argument {
    case "home": self = .home
    case "travel": self = .travel
    default:
      guard let zone = ZoneArgument(argument: argument) else { return nil }
      self = .named(zone.timeZone)
    }
  }

  var defaultValueDescription: String { "home" }
}

/// The home zone of the person of a record.
struct HomeZone {
  let timeZone: TimeZone
  let rules: ZoneRules
  /// Whether the person has chosen the zone; else it is this machine's.
  let isChosen: Bool

  /// Creates the zone from the settings of a store.
  ///
  /// - Throws: ``ZoneError`` if this system no longer knows the zone.
  init(_ settings: AnalysisSettings) throws {
    let chosen = settings.homeZone.flatMap(TimeZone.init(identifier:))
    timeZone = chosen ?? .current
    rules = try ZoneRules(homeOf: settings)
    isChosen = chosen != nil
  }
}
