import Foundation
import HealthModel
import HealthStore
import Testing

/// Tests of queries on the command line: time zones, preferred sources, units, tables.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct QuestionTests {
  private let scratch: Scratch
  private var home: Host { scratch.host("home") }

  init() throws { scratch = try Scratch() }

  private static let watch = Source(name: "Casey's Watch", bundleIdentifier: "com.apple.health.W")
  private static let phone = Source(name: "Casey's iPhone", bundleIdentifier: "com.apple.health.P")

  private static func sample(
    _ name: String, _ source: Source, _ start: String, _ seconds: Int64, _ value: Double, _ unit: String,
    metadata: Metadata = [:]
  ) throws -> Sample {
    let start = try #require(Timestamp(iso8601: start))
    return Sample(
      uuid: UUID(), type: SampleType("HKQuantityTypeIdentifier" + name), start: start,
      end: Timestamp(seconds: start.seconds + seconds), source: source, metadata: metadata,
      payload: .quantity(Quantity(value, unit)))
  }

  private func run(_ arguments: String..., status: Int32 = 0) async throws -> Outcome {
    let outcome = try await home.start(arguments, environment: ["TZ": "UTC"]).outcome()
    #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
    return outcome
  }

  private func fill(_ samples: [Sample]) async throws {
    try await HealthStore(directory: home.home).apply(ChangeBatch(additions: samples))
  }

  @Test("a home zone is kept, counts without --zone, and is written down")
  func homeZone() async throws {
    try await fill([
      Self.sample("StepCount", Self.watch, "2024-06-15T23:30:00Z", 60, 100, "count"),
      Self.sample("StepCount", Self.watch, "2024-06-15T12:00:00Z", 60, 10, "count"),
    ])
    #expect(try await run("zone").output.hasSuffix(" (this machine's)\n"))
    #expect(try await run("stats", "stepCount", "--on", "2024-06-15", "--csv").output.contains(",110.0,"))
    #expect(try await run("zone", "europe/berlin").output == "Europe/Berlin\n")
    let there = try await run("stats", "stepCount", "--csv").output
    #expect(there.contains(",Europe/Berlin,2024-06-16T00:00:00+02:00,"), "\(there)")
    #expect(try await run("stats", "stepCount", "--on", "2024-06-15", "--csv").output.contains(",10.0,"))
    #expect(try await run("stats", "stepCount", "--on", "2024-06-15", "--utc", "--csv").output.contains(",110.0,"))
    #expect(try await run("show", "stepCount").output.contains("2024-06-16T01:30:00+02:00"))
    _ = try await run("zone", "Mars/Olympus", status: 2)
    _ = try await run("zone", "UTC", "--machine", status: 2)
    #expect(try await run("zone", "--machine").output.contains("this machine's"))
    #expect(try await run("audit").output.split(separator: "\n").count { $0.contains("setting.changed") } == 2)
  }

  @Test("time is understood as people say it, without dashes, and a word that an option takes stays its own")
  func spokenTime() async throws {
    try await fill([
      Self.sample("StepCount", Self.watch, "2024-06-15T12:00:00Z", 60, 100, "count"),
      Self.sample("StepCount", Self.watch, "2024-06-16T12:00:00Z", 60, 10, "count"),
      Self.sample("StepCount", Source(name: "monday"), "2024-07-01T12:00:00Z", 60, 1, "count"),
    ])
    let day = try await run("stats", "stepCount", "--on", "2024-06-15", "--csv").output
    #expect(day.contains(",100.0,"))
    #expect(try await run("stats", "steps", "2024-06-15", "--csv").output == day)
    #expect(try await run("stats", "15.6.2024", "steps", "--csv").output == day)
    let month = try await run("stats", "stepCount", "--on", "2024-06", "--by", "month", "--csv").output
    #expect(month.contains(",110.0,"))
    #expect(try await run("stats", "steps", "by", "month", "june", "2024", "--csv").output == month)
    #expect(
      try await run("show", "steps", "jun", "2024").output.split(separator: "\n").count { $0.contains("2024-06") } == 2)
    #expect(try await run("stats", "steps", "--source", "monday", "--csv").output.contains(",1.0,"))
    let summary = try await run("summary", "--on", "2024-06-15").output
    #expect(try await run("summary", "2024-06-15").output == summary)
    _ = try await run("summary", "last", "week", status: 2)
    _ = try await run("sleep", "last", "night")
    _ = try await run("stats", "steps", "11/12/2024", status: 2)
    _ = try await run("delete", "--types", "steps", "yesterday", status: 2)
  }

  @Test("what changes the record, or hands it on, reads dates in the home zone, too")
  func homeZoneOfChanges() async throws {
    try await fill([
      Self.sample("StepCount", Self.watch, "2024-06-15T23:30:00Z", 60, 100, "count"),
      Self.sample("StepCount", Self.watch, "2024-06-15T12:00:00Z", 60, 10, "count"),
    ])
    _ = try await run("zone", "Europe/Berlin")
    func exported(_ arguments: String...) async throws -> Set<String> {
      let outcome = try await home.start(
        ["export", "--format", "csv"] + arguments, environment: ["TZ": "UTC"]
      ).outcome()
      return Set(["12:00:00Z", "23:30:00Z"].filter(outcome.output.contains))
    }
    #expect(try await exported("--on", "2024-06-15") == ["12:00:00Z"])
    #expect(try await exported("--on", "2024-06-16") == ["23:30:00Z"])
    #expect(try await exported("--on", "2024-06-15", "--utc") == ["12:00:00Z", "23:30:00Z"])
    let days = scratch.path + "/days.csv"
    _ = try await run("export", "--format", "statistics-csv", "--output", days)
    #expect(try String(contentsOfFile: days, encoding: .utf8).contains("2024-06-16T00:00:00+02:00"))
    let nothing = try await run("delete", "--types", "stepCount", "--from", "2024-06-17", "--to", "2024-06-17")
    #expect(nothing.errors.contains("from 2024-06-17 on and before 2024-06-18"), "\(nothing.errors)")
    let deleted = try await run("delete", "--types", "stepCount", "--from", "2024-06-16", "--to", "2024-06-16", "--yes")
    #expect(deleted.output.contains("1 sample of stepCount deleted"))
    #expect(try await exported() == ["12:00:00Z"])
    // Clocks are put back there, and not where this machine is.
    let doubt = try await run(
      "delete", "--types", "stepCount", "--from", "2024-10-27T02:30", "--to", "2024-10-28", "--yes", status: 2)
    #expect(doubt.errors.contains("2024-10-27T02:30:00+02:00 or 2024-10-27T02:30:00+01:00"), "\(doubt.errors)")
  }

  @Test("travel: a day is where the person was")
  func travel() async throws {
    let tokyo: Metadata = ["HKTimeZone": "Asia/Tokyo"]
    try await fill([
      Self.sample("StepCount", Self.watch, "2024-06-15T16:00:00Z", 60, 100, "count", metadata: tokyo),
      Self.sample("StepCount", Self.watch, "2024-06-15T12:00:00Z", 60, 10, "count"),
    ])
    let table = try await run("stats", "stepCount", "--zone", "travel", "--csv").output
    #expect(table.contains(",travel,") && table.contains(",2024-06-16,") && table.contains(",100.0,"), "\(table)")
    let day = try await run("stats", "stepCount", "--zone", "travel", "--on", "2024-06-16", "--csv").output
    #expect(day.contains(",100.0,") && !day.contains(",10.0,"), "\(day)")
    #expect(try await run("latest", "stepCount", "--zone", "travel").output.contains("2024-06-16T01:00:00+09:00"))
  }

  @Test("the first source is chosen, counts, and is taken back")
  func firstSource() async throws {
    try await fill([
      Self.sample("StepCount", Self.watch, "2024-06-15T12:00:00Z", 600, 100, "count"),
      Self.sample("StepCount", Self.phone, "2024-06-15T12:00:00Z", 600, 70, "count"),
    ])
    func steps() async throws -> String { try await run("stats", "stepCount", "--csv").output }
    #expect(try await steps().contains(",100.0,"))
    let chosen = try await run("sources", "stepCount", "--first", "Casey's iPhone").output
    #expect(chosen.split(separator: "\n")[1].contains("first by choice"), "\(chosen)")
    #expect(try await steps().contains(",70.0,"))
    #expect(!(try await run("sources", "heartRate").output.contains("by choice")))
    let unknown = try await run("sources", "stepCount", "--first", "Nobody", status: 2)
    #expect(unknown.errors.contains("called \"Nobody\""))
    _ = try await run("sources", "--first", "Casey's iPhone", status: 2)
    _ = try await run("sources", "stepCount", "--no-first")
    #expect(try await steps().contains(",100.0,"))
  }

  @Test("units are those that were asked for, wherever there are numbers")
  func units() async throws {
    try await fill([
      Self.sample("BodyMass", Self.phone, "2024-06-15T12:00:00Z", 0, 70, "kg"),
      Self.sample("Height", Self.phone, "2024-06-15T12:00:00Z", 0, 1.8, "m"),
      Self.sample("DistanceCycling", Self.phone, "2024-06-15T12:00:00Z", 600, 16.09344, "km"),
      Self.sample("BodyTemperature", Self.phone, "2024-06-15T12:00:00Z", 0, 37, "degC"),
      Self.sample("OxygenSaturation", Self.phone, "2024-06-15T12:00:00Z", 0, 0.98, "%"),
    ])
    let names = ["bodyMass", "height", "distanceCycling", "bodyTemperature", "oxygenSaturation"]
    let imperial = try await home.start(["latest", "--units", "imperial"] + names).outcome().output
    for text in ["154.32 lb", "5.91 ft", "10 mi", "98.6 °F", "98 %"] {
      #expect(imperial.contains(text), "\(imperial)")
    }
    #expect(try await run("show", "bodyMass", "--units", "bodyMass=st").output.contains("11.02 st"))
    #expect(
      try await run("stats", "distanceCycling", "--units", "lb,mi").output.contains("distanceCycling, mi, by day"))
    let json = try await run("stats", "bodyMass", "--units", "lb", "--json").output
    #expect(json.contains("\"unit\":\"lb\"") && json.contains("154.32"), "\(json)")
    for wrong in ["ell", "%", "bodyMass=mi", "stepCount=%=%"] {
      _ = try await run("latest", "bodyMass", "--units", wrong, status: 2)
    }
  }

  @Test("tables for spreadsheets, of all that is printed as one")
  func tables() async throws {
    try await home.hold(.small)
    for (arguments, header) in [
      (["sleep"], "date,kind,start,end,source,"), (["workouts"], "id,start,end,activity,source,"),
      (["latest", "stepCount"], "type,value,start,end,source"), (["sources"], "source,kind,chosen,samples,first,last"),
      (["types"], "type,identifier,samples,first,last"),
    ] {
      let outcome = try await home.start(arguments + ["--csv"]).outcome()
      let rows = outcome.output.components(separatedBy: "\r\n")
      #expect(outcome.status == 0 && rows[0].hasPrefix(header), "\(arguments): \(outcome.errors)")
      #expect(rows.count > 2 && rows.last == "", "\(arguments)")
    }
    #expect(try await home.run("sleep", "--csv", "--json").status == 2)
    for command in ["stats", "show", "chart"] { #expect(try await home.run(command).status == 2) }
    let shown = try await home.run("show", "--types", "stepCount,heartRate", "--limit", "1")
    #expect(shown.output.split(separator: "\n").count == 2, "\(shown.errors)")
    #expect(try await home.run("stats", "--types", "stepCount,heartRate", "--by", "year").status == 0)
  }

  @Test("a type is found by what people call it, and where that is several they are named")
  func words() async throws {
    try await home.hold(.small)
    for (words, name) in [
      ("steps", "stepCount"), ("Step Count", "stepCount"), ("step-count", "stepCount"), ("Schritte", "stepCount"),
      ("STEPCOUNT", "stepCount"), ("weight", "bodyMass"), ("heart rate", "heartRate"), ("Pulse", "heartRate"),
      ("HRV", "heartRateVariabilitySDNN"), ("hkquantitytypeidentifierheartrate", "heartRate"),
      ("sleep", "sleepAnalysis"),
    ] {
      let expected = try await home.run("show", name, "--limit", "1")
      let found = try await home.run("show", words, "--limit", "1")
      #expect(
        found.status == 0 && found.output == expected.output && !found.output.isEmpty, "\(words): \(found.errors)")
      #expect(try await home.run("show", "--types", words, "--limit", "1").output == expected.output, "\(words)")
    }
    let several = try await home.run("show", "energy")
    #expect(several.status == 2)
    #expect(several.errors.contains("energy may be activeEnergyBurned, basalEnergyBurned"), "\(several.errors)")
    let unknown = try await home.run("show", "stepcuont")
    #expect(unknown.status == 2 && unknown.errors.contains("Did you mean stepCount"), "\(unknown.errors)")
    let none = try await home.run("chart")
    #expect(none.status == 2 && none.errors.contains("; here are "), "\(none.errors)")
  }

  @Test("what is named by nobody: the newest of each type, and the newest workout")
  func unnamed() async throws {
    try await home.hold(.small)
    let types = try await home.run("types", "--json").json()["types"] as? [[String: Any]]
    let latest = try await home.run("latest")
    let lines = latest.output.split(separator: "\n")
    #expect(latest.status == 0 && lines.count == types.map { $0.count + 1 }, "\(latest.errors)")
    #expect(lines[1].contains(" ago"), "\(latest.output)")
    let times = lines.dropFirst().compactMap {
      $0.firstMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/).map { String($0.0) }
    }
    #expect(times.count > 3 && times == times.sorted(by: >), "\(latest.output)")
    let workout = try await home.run("workout", "--json")
    #expect(workout.status == 0, "\(workout.errors)")
    let listed = try await home.run("workouts", "--json").json()["workouts"] as? [[String: Any]]
    let newest = listed?.max { ($0["start"] as? String ?? "") < ($1["start"] as? String ?? "") }
    #expect(try workout.json()["id"] as? String == newest?["id"] as? String)
    let empty = scratch.host("empty")
    #expect(try await empty.run("lock").status == 0)
    let missing = try await empty.run("workout")
    #expect(missing.status == 2 && missing.errors.contains("no workout here yet"), "\(missing.errors)")
  }

  /// Runs a command on a terminal and returns the terminal when the command has ended.
  private func screen(_ arguments: [String], columns: UInt16, environment: [String] = []) async throws -> PseudoTerminal
  {
    let command = ([Build.hpeer] + arguments).map { "'\($0)'" }.joined(separator: " ")
    let terminal = try PseudoTerminal(
      ["HPEER_HOME=\(home.home)"] + environment + ["sh", "-c", "\(command); echo THE END"], columns: columns)
    try await terminal.text(matching: #/THE END/#)
    return terminal
  }

  @Test("a date that cannot be right stretches no answer, is said, and is reached by name")
  func datesThatCannotBeRight() async throws {
    try await fill(
      ["0001-06-15T10:00:00Z", "2024-06-15T10:00:00Z", "2024-06-16T10:00:00Z", "9999-06-15T10:00:00Z"].map {
        try Self.sample("HeartRate", Self.watch, $0, 0, 62, "count/min")
      })
    let said = "Left out: 2 samples from before 1900 or from more than a year ahead"
    for arguments in [["coverage"], ["coverage", "heartRate"], ["stats", "heartRate", "--by", "hour"]] {
      let outcome = try await home.start(arguments).outcome()
      #expect(outcome.status == 0 && outcome.errors.contains(said), "\(arguments): \(outcome.errors)")
      #expect(outcome.output.split(separator: "\n").count < 10, "\(arguments): \(outcome.output)")
    }
    let chart = try await run("chart", "heartRate")
    #expect(chart.output.contains("2024-06-16") && !chart.output.contains("9999"), "\(chart.output)")
    #expect(chart.errors.contains("Left out: 1 sample from"))
    let type = try #require(
      (try await run("coverage", "heartRate", "--json").json()["types"] as? [[String: Any]])?.first)
    #expect(type["first"] as? String == "2024-06-15" && type["last"] as? String == "2024-06-16")
    #expect(type["implausibleTime"] as? Int == 2)
    let statistics = try await run("stats", "heartRate", "--json").json()
    #expect((statistics["values"] as? [Any])?.count == 2 && statistics["implausibleTime"] as? Int == 2)
    for bounds in [["--from", "9000"], ["--from", "0001"], ["--to", "9999"], ["--to", "0002"]] {
      let found = try await home.start(["stats", "heartRate", "--by", "year", "--json"] + bounds).outcome().json()
      #expect(
        (found["values"] as? [Any])?.count == ["9000": 1, "0001": 2, "9999": 2, "0002": 1][bounds[1]], "\(bounds)")
    }
  }

  @Test("a calendar of few months says of which year they are")
  func fewMonths() async throws {
    try await home.hold(.small)
    let coverage = try await home.run("coverage", "--from", "2019-01", "--to", "2019-01")
    #expect(coverage.status == 0, "\(coverage.errors)")
    let header = try #require(coverage.output.split(separator: "\n", omittingEmptySubsequences: false).first)
    #expect(header.hasSuffix(" 2019"), "\(coverage.output)")
  }

  @Test("every answer fits the window, in UTF-8 and in ASCII, in colours and without", arguments: [40, 80] as [UInt16])
  func windows(columns: UInt16) async throws {
    try await home.hold(.small)
    let listed = try await home.run("workouts", "--json").json()
    let workout = try #require(((listed["workouts"] as? [[String: Any]])?.first?["id"] as? String)?.prefix(12))
    for arguments in [
      ["summary", "--on", "2019-01-05"], ["coverage"], ["coverage", "stepCount"], ["chart", "sleep"],
      ["chart", "stepCount", "--from", "2019-01-04", "--compare", "previous"], ["chart", "heartRate", "--by", "hour"],
      ["chart", "heartRate", "--by", "hour", "--from", "2019-01-01"], ["workout", String(workout)],
    ] {
      for environment in [["LC_ALL=C.UTF-8"], ["LC_ALL=C", "NO_COLOR=1"]] {
        let terminal = try await screen(arguments, columns: columns, environment: environment)
        let lines = terminal.lines
        #expect(lines.count > 3, "\(arguments): \(terminal.text)")
        // A sentence beside the data may be longer.
        let data = lines.filter { !$0.hasSuffix(".") }
        #expect(data.allSatisfy { $0.count <= Int(columns) }, "\(arguments) \(environment): \(lines)")
        if arguments[0] == "summary" {
          if columns == 80 { #expect(lines.count <= 24, "\(lines)") }
          // A type whose name is cut is one of several.
          let names = lines.drop { !$0.hasPrefix("TYPE") }.map { $0.prefix { $0 != " " } }
          #expect(names.count > 1 && !names.contains { $0.contains("…") }, "\(lines)")
        }
        if environment.count > 1 {
          #expect(!terminal.text.contains("\u{1B}"), "\(arguments)")
          let own = terminal.text.unicodeScalars.filter {
            // The last is in units, such as HealthKit's kcal/hr·kg.
            $0.value > 0x7E && ![0xA0, 0x2019, 0x2026, 0xB7].contains($0.value)
          }
          #expect(own.isEmpty, "\(arguments): \(String(String.UnicodeScalarView(own)))")
        }
      }
    }
  }
}
