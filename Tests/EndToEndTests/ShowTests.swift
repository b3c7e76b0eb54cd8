import Foundation
import HealthModel
import HealthStore
import Testing

/// Tests of the output of samples.
@Suite(.timeLimit(.minutes(5)))
struct ShowTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var home: Host { scratch.host("home") }

  private func sample(_ type: String, _ payload: Payload, at seconds: Int64 = 1_718_440_200) -> Sample {
    Sample(
      uuid: UUID(), type: SampleType(type), start: Timestamp(seconds: seconds), end: Timestamp(seconds: seconds + 60),
      source: Source(name: "Watch"), payload: payload)
  }

  private func characteristic(_ name: String, _ value: String) -> Sample {
    sample("HKCharacteristicTypeIdentifier" + name, .characteristic(CharacteristicValue(value: value)))
  }

  private func fill(_ samples: [Sample]) async throws {
    try await HealthStore(directory: home.home).apply(ChangeBatch(additions: samples))
  }

  private func shown(_ type: String) async throws -> String {
    let outcome = try await home.run("show", type)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.lastLine
  }

  @Test("percent, a blood pressure, a workout's distance and a night are what a person calls them")
  func values() async throws {
    let systolic = sample("HKQuantityTypeIdentifierBloodPressureSystolic", .quantity(Quantity(120, "mmHg")))
    let diastolic = sample("HKQuantityTypeIdentifierBloodPressureDiastolic", .quantity(Quantity(80.5, "mmHg")))
    let pair = Correlation(members: [diastolic.reference, systolic.reference])
    let alone = Correlation(members: [
      systolic.reference, SampleReference(type: SampleType("x"), start: .now, uuid: UUID()),
    ])
    var walk = Workout(activityType: WorkoutActivityType(exported: "HKWorkoutActivityTypeWalking"), duration: 1920)
    walk.totals["totalDistance"] = Quantity(2.5, "km")
    try await fill([
      systolic, diastolic, sample("HKCorrelationTypeIdentifierBloodPressure", .correlation(pair)),
      sample("HKCorrelationTypeIdentifierFood", .correlation(alone)),
      sample("HKQuantityTypeIdentifierOxygenSaturation", .quantity(Quantity(0.98, "%"))),
      sample("HKQuantityTypeIdentifierBodyFatPercentage", .quantity(Quantity(0.283, "%"))),
      sample("HKWorkoutTypeIdentifier", .workout(walk)),
      sample("HKCategoryTypeIdentifierSleepAnalysis", .category(CategoryValue(value: 3))),
      characteristic("BiologicalSex", "HKBiologicalSexNotSet"), characteristic("BloodType", "HKBloodTypeABNegative"),
      characteristic("DateOfBirth", "1979-11-30"), characteristic("WheelchairUse", "HKFutureWords"),
    ])
    #expect(try await shown("oxygenSaturation").contains("  98 %  Watch"))
    #expect(try await shown("bodyFatPercentage").contains("  28.3 %  Watch"))
    #expect(try await shown("bloodPressure").contains("  120/80.5 mmHg  Watch"))
    // One of them is not here.
    #expect(try await shown("HKCorrelationTypeIdentifierFood").contains("  2 members  Watch"))
    #expect(try await shown("workout").contains("  Walking 32 min 2.5 km  Watch"))
    #expect(try await shown("sleepAnalysis").contains("  Asleep Core  Watch"))
    for (type, words) in [
      ("biologicalSex", "Not Set"), ("bloodType", "AB Negative"), ("dateOfBirth", "1979-11-30"),
      ("wheelchairUse", "HKFutureWords"),
    ] {
      #expect(try await shown(type) == "-  -  \(words)  Watch")
    }
    let table = try await home.run("export", "--format", "csv", "--types", "sleepAnalysis").output
    #expect(table.contains(",3,HKCategoryValueSleepAnalysisAsleepCore,"), "\(table)")
  }

  @Test("small amounts are not nothing: what labels say in tables, and all digits for programs")
  func amounts() async throws {
    func quantity(_ name: String, _ value: Double, _ unit: String) -> Sample {
      sample("HKQuantityTypeIdentifier" + name, .quantity(Quantity(value, unit)))
    }
    try await fill([
      quantity("DietaryIron", 8, "mg"), quantity("DietaryCaffeine", 95, "mg"),
      quantity("DietaryVitaminB12", 2.4, "mcg"),
      quantity("InsulinDelivery", 0.025, "IU"), quantity("BloodGlucose", 99.1, "mg/dL"),
    ])
    for (type, text) in [
      ("dietaryIron", "dietaryIron, mg,"), ("dietaryCaffeine", " 95"), ("dietaryVitaminB12", " 2.4"),
      ("insulinDelivery", " 0.025"),
    ] {
      let outcome = try await home.run("stats", type)
      #expect(outcome.output.contains(text), "\(outcome.output)")
    }
    #expect(try await home.run("stats", "dietaryVitaminB12", "--json").output.contains("\"unit\":\"g\""))
    let glucose = try await home.run("stats", "bloodGlucose", "--units", "mmol/L")
    #expect(glucose.output.contains("bloodGlucose, mmol/L,") && glucose.output.contains(" 5.5"), "\(glucose.output)")
    #expect(try await shown("bloodGlucose").contains("99.1 mg/dL"))
    let latest = try await home.run("latest", "dietaryIron", "--csv")
    #expect(latest.output.contains("8 mg"), "\(latest.output)")
    let summary = try await home.run("summary", "--on", "2024-06-15")
    for text in ["bloodGlucose", "dietaryIron, mg", "insulinDelivery"] {
      #expect(summary.output.contains(text), "\(summary.output)")
    }
    let later = try await home.run("summary", "--on", "2025-06-15")
    #expect(later.errors.contains("The record has 5 samples"), "\(later.errors)")
  }

  @Test(
    "a workout that says no duration, or none that is one, is shown without", arguments: [.nan, .infinity, -1, 1e300])
  func durations(_ duration: Double) async throws {
    let walk = Workout(activityType: WorkoutActivityType(exported: "HKWorkoutActivityTypeWalking"), duration: duration)
    try await fill([sample("HKWorkoutTypeIdentifier", .workout(walk))])
    #expect(try await shown("workout").contains("  Walking  Watch"))
  }

  @Test("what is true of a person has no time")
  func characteristics() async throws {
    let birth = sample(
      "HKCharacteristicTypeIdentifierDateOfBirth", .characteristic(CharacteristicValue(value: "1986-02-03")), at: 0)
    var whole = birth
    whole.end = whole.start
    try await fill([whole, sample("HKQuantityTypeIdentifierHeartRate", .quantity(Quantity(72, "count/min")))])
    let types = try await home.run("types")
    #expect(types.output.contains(#/dateOfBirth +1 +- +-\n/#), "\(types.output)")
    #expect(!types.output.contains("1970"))
    #expect(try await !home.run("types", "--json").output.contains("1970"))
    #expect(try await shown("dateOfBirth") == "-  -  1986-02-03  Watch")
  }

  @Test("a list of machines fits a window of forty columns")
  func narrow() async throws {
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise", "--name", "studio"])
    let (code, _) = try await home.openWindow()
    let client = scratch.host("client")
    #expect(try await client.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    let terminal = try PseudoTerminal([
      "HPEER_HOME=\(home.home)", "bash", "-c", "stty cols 40; '\(Build.hpeer)' peers",
    ])
    #expect(try await terminal.exitStatus() == 0)
    let lines = terminal.text.replacing(#/\u{1B}\[[0-9;]*m/#, with: "").split(whereSeparator: \.isNewline)
    #expect(lines.contains { $0.hasPrefix("EXPIRES ") }, "\(terminal.text)")
    #expect(lines.allSatisfy { $0.count <= 40 }, "\(terminal.text)")
  }

  @Test("in a narrow window sentences are broken between words, and an object is not broken")
  func wrapped() async throws {
    try await home.hold(.small)
    let sentence = try await home.run("show", "nosuchtype").errors.split(whereSeparator: \.isWhitespace)
    let terminal = try PseudoTerminal(
      ["HPEER_HOME=\(home.home)", "NO_COLOR=1", Build.hpeer, "show", "nosuchtype"], columns: 40)
    #expect(try await terminal.exitStatus() != 0)
    #expect(terminal.lines.count > 2 && terminal.lines.allSatisfy { $0.count <= 40 }, "\(terminal.lines)")
    #expect(terminal.text.split(whereSeparator: \.isWhitespace) == sentence, "\(terminal.lines)")
    let help = try PseudoTerminal(["HPEER_HOME=\(home.home)", Build.hpeer, "help", "show"], columns: 40)
    #expect(try await help.exitStatus() == 0)
    #expect(help.lines.count > 20 && help.lines.allSatisfy { $0.count <= 40 }, "\(help.lines)")
    let object = try PseudoTerminal(["HPEER_HOME=\(home.home)", Build.hpeer, "types", "--json"], columns: 40)
    #expect(try await object.exitStatus() == 0)
    #expect(object.lines.first?.hasSuffix("}") == true, "\(object.lines)")
  }

  @Test("without UTF-8 the code on the screen is read by a real decoder")
  func painted() async throws {
    let terminal = try PseudoTerminal([
      "HPEER_HOME=\(home.home)", "LC_ALL=C", "bash", "-c",
      "stty cols 100 rows 60; exec '\(Build.hpeer)' serve --port 0 --no-advertise --bind 127.0.0.1 --name studio",
    ])
    try await terminal.text(matching: #/Code: /#)
    // A line is painted from its first to its last column, in runs of one colour.
    let rows = terminal.text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("\u{1B}[48;5;231m  ") }.map {
      line in
      line.split(separator: "\u{1B}[48;5;").flatMap { run in
        let spaces = run.drop { $0 != "m" }.dropFirst().prefix { $0 == " " }
        return Array(repeating: run.hasPrefix("16m"), count: spaces.count / 2)
      }
    }
    #expect(rows.count > 21)
    let scale = 6
    var picture = Data("P5 \((rows.first?.count ?? 0) * scale) \(rows.count * scale) 255\n".utf8)
    for row in rows {
      let line = row.flatMap { Array(repeating: UInt8($0 ? 0 : 255), count: scale) }
      for _ in 0..<scale { picture.append(contentsOf: line) }
    }
    let path = scratch.path + "/screen.pgm"
    try picture.write(to: URL(fileURLWithPath: path))
    let decoded = try await home.sh("zbarimg -q --raw '\(path)'")
    #expect(decoded.output.hasPrefix("HPEER:P1/127.0.0.1:"), "\(decoded.errors)")
    terminal.type("\u{3}")
    #expect(try await terminal.exitStatus() == 0)
  }
}
