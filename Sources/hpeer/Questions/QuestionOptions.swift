import ArgumentParser
import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// What all commands take that say what a record says: `--source`, `--from`, `--to`, `--on`, `--zone`, `--units`.
struct QuestionOptions: ParsableArguments {
  @OptionGroup var dates: DateOptions
  @OptionGroup var sources: SourceOptions
  @OptionGroup var zone: QuestionZoneOptions
  @OptionGroup var units: UnitOptions

  /// What is meant, in a store whose person has a home. Throws where a source is unknown or the time is empty.
  func question(to store: HealthStore, now: Timestamp = .now) async throws -> Question {
    try await Question(
      dates: dates, zone: zone, sources: try await sources.known(in: store), units: units.choice, to: store, now: now)
  }
}

/// `--strict`, of commands whose numbers apps may have sent.
struct StrictOption: ParsableArguments {
  @Flag(help: "Count only samples, without the totals and means that apps have sent.")
  var strict = false

  var readings: ReadingRule { strict ? .none : .all }
}

extension Question {
  /// Says when there was something last, where the time that was asked about has nothing.
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

/// A part of a record, and how it is to be shown.
struct Question {
  /// Whose days count, and in which all times are printed.
  let zone: ZoneRules
  /// The zone of the person, where times without a zone are read.
  let home: HomeZone
  /// `nil` for the beginning of the record.
  let start: Timestamp?
  /// Not included; `nil` for the end of the record.
  let end: Timestamp?
  /// Names; `nil` for all.
  let sources: Set<String>?
  /// What was asked for, also for other programs.
  let units: UnitChoice
  /// The same for tables and charts.
  let unitsForPeople: UnitChoice
  let now: Timestamp
  /// Which readings of apps count.
  var readings = ReadingRule.all
  /// As Foundation knows ``zone``; `nil` where that is several.
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
    // Whole days begin where those of the zone do, wherever somebody was then.
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

  /// All of time where neither end is given.
  var range: Range<Timestamp> {
    (start ?? Timestamp(microseconds: .min))..<(end ?? Timestamp(microseconds: .max))
  }

  /// Where neither end is given, and on the side of one that is not, what lies outside is left out.
  var limits: Range<Timestamp> { PlausibleTime.limits(from: start, to: end, now: now) }

  /// Days since 1970-01-01 of the first date and the last; `nil` where that end is open.
  var days: (first: Int?, last: Int?) {
    (
      start.map { zone.dayNumber(at: $0.seconds) },
      end.map { zone.dayNumber(at: Timestamp(microseconds: $0.microseconds - 1).seconds) }
    )
  }

  /// An instant with its offset, `Z` in UTC.
  func text(_ instant: Timestamp) -> String { timeZone.map(instant.iso8601) ?? zone.text(instant) }

  /// The same to the second.
  func seconds(_ instant: Timestamp) -> String { text(Timestamp(seconds: instant.seconds)) }

  /// The days that a person names beside those of the question. Throws where they are none.
  func range(of period: PeriodArgument) throws -> Range<Timestamp> {
    let reading = timeZone ?? home.timeZone
    let bounds = period.bounds(in: reading, now: now)
    let (start, end) = (bounds.start.start(in: reading, now: now), bounds.end.end(in: reading, now: now))
    guard start < end else { throw ValidationError("The period is empty.") }
    return start..<end
  }

  /// The date that it is now, in days since 1970-01-01.
  var today: Int { zone.dayNumber(at: now.seconds) }

  /// What asks for the numbers of a type.
  ///
  /// - Parameter start: not that of the question, whose part it is.
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

/// The zone whose days a question is about, and in which times are printed.
struct QuestionZoneOptions: ParsableArguments {
  // Those west of Greenwich begin like options.
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

/// What `--zone` names.
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

/// The zone of the person of a record.
struct HomeZone {
  let timeZone: TimeZone
  let rules: ZoneRules
  /// Whether the person has said so; else it is that of this machine.
  let isChosen: Bool

  /// - Throws: ``ZoneError`` where the zone is no longer known to this system.
  init(_ settings: AnalysisSettings) throws {
    let chosen = settings.homeZone.flatMap(TimeZone.init(identifier:))
    timeZone = chosen ?? .current
    rules = try ZoneRules(homeOf: settings)
    isChosen = chosen != nil
  }
}
