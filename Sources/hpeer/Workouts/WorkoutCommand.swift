import ArgumentParser
import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import Terminal

struct WorkoutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "workout",
    abstract: "Print one workout: legs, heart rate zones, splits and ascent.",
    discussion: """
      Without an id, of the newest workout. A triathlon or an interval session has a row for each leg; the workout's own \
      distance is that of all legs where it says none itself. Splits are kilometres of its route, or with --units imperial miles; JSON has kilometres. Zones begin at 60, 70, 80 and 90 % of 220 beats a minute less the years of the \
      record's person on that day, unless --zones names others.

      Examples:
        hpeer workout
        hpeer workout 1F3A9C20
        hpeer workout 1F3A9C20 --zones 110,125,140,160 --json
      """)

  @OptionGroup var common: CommonOptions
  @Argument(
    help: "The id that `hpeer workouts` prints, or its first characters. Default: the newest workout.")
  var id: String?
  @Option(help: "Where heart rate zones begin, in beats a minute: 110,125,140,160.", transform: Self.edges)
  var zones: HeartRateZones?
  @OptionGroup var zone: QuestionZoneOptions
  @OptionGroup var units: UnitOptions
  @OptionGroup var output: JSONOption

  /// The minimum length of an ID. A shorter one would match by chance.
  private static let shortestID = 4

  private static func edges(_ text: String) throws -> HeartRateZones {
    let edges = text.split(separator: ",").compactMap { Double($0.trimmingCharacters(in: .whitespaces)) }
    guard (1...10).contains(edges.count),
      edges.count == text.split(separator: ",", omittingEmptySubsequences: false).count,
      edges.allSatisfy({ (1...1000).contains($0) })
    else { throw ValidationError("--zones takes one to ten rates, such as 110,125,140,160.") }
    return HeartRateZones(edges: edges)
  }

  func validate() throws {
    if let id, id.count < Self.shortestID { throw ValidationError("Give at least four characters of the id.") }
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await Question(zone: zone, units: units.choice, to: store)
    let zone = question.zone
    try await NumbersUpdate.run(on: store)
    var query = WorkoutQuery()
    query.readsSamples = false
    var workouts: [WorkoutSummary] = []
    if id == nil, let newest = try await store.samples.extent(of: .workout, in: question.limits)?.upperBound {
      // Workouts that may be the same one are read as well.
      let first = newest.seconds.subtractingReportingOverflow(Self.recent)
      query.range =
        Timestamp(seconds: first.overflow ? newest.seconds : first.partialValue)..<Timestamp(microseconds: .max)
      workouts = try await query.run(on: store)
      query.range = nil
    }
    if workouts.isEmpty { workouts = try await query.run(on: store) }
    let workout = try await WorkoutQuery.filled(try one(of: workouts), in: store)
    var zones = zones
    if zones == nil { zones = try await zonesOfAge(store, on: workout.sample.start, zone) }
    let details = try await WorkoutQuery.details(of: workout, zones: zones, in: store)
    if output.json { return try Console.print(json: WorkoutObject(details, zones, zone)) }
    try WorkoutPresentation(zone: zone, units: question.unitsForPeople).print(details, zones)
  }

  /// The time before the newest workout from which workouts are read, in seconds.
  private static let recent: Int64 = 14 * 86_400

  /// Returns the workout with the ID, or the newest one.
  private func one(of workouts: [WorkoutSummary]) throws -> WorkoutSummary {
    guard let id else {
      if let newest = workouts.max(by: { $0.sample.start < $1.sample.start }) { return newest }
      throw CommandFailure(.usage, "There is no workout here yet; `hpeer types` says what there is.")
    }
    let found = workouts.filter { $0.sample.uuid.uuidString.hasPrefix(id.uppercased()) }
    let text = PlainText.escaped(id, limit: 40)
    guard let first = found.first else {
      throw CommandFailure(.usage, "There is no workout with the id \(text); `hpeer workouts` lists them.")
    }
    guard found.count == 1 else {
      throw CommandFailure(
        .usage,
        "\(HumanFormat.count(found.count, "workout")) have ids that begin with \(text): give more of it.")
    }
    return first
  }

  /// Returns the zones for the person's age; `nil` if the record has no date of birth.
  private func zonesOfAge(_ store: HealthStore, on instant: Timestamp, _ zone: ZoneRules) async throws
    -> HeartRateZones?
  {
    guard let birth = try await store.person()[.dateOfBirth], let born = Timestamp(iso8601: birth + "T00:00:00Z")?.civil
    else { return nil }
    let day = Timestamp(seconds: Int64(zone.dayNumber(at: instant.seconds)) * 86_400).civil
    let age = day.year - born.year - ((day.month, day.day) < (born.month, born.day) ? 1 : 0)
    return (1...120).contains(age) ? HeartRateZones(age: age) : nil
  }
}
