import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests that a short command gives the answer first, and precise errors.
@Suite("Answers", .serialized, .timeLimit(.minutes(5)))
struct AnswerTests {
  private let scratch: Scratch
  private var home: Host { scratch.host("home") }

  init() throws { scratch = try Scratch() }

  private func run(_ arguments: String..., status: Int32 = 0) async throws -> Outcome {
    let outcome = try await home.start(arguments, environment: ["TZ": "UTC"]).outcome()
    #expect(outcome.status == status, "\(arguments): \(outcome.output)\(outcome.errors)")
    return outcome
  }

  /// Adds steps for a number of days up to yesterday, each day with a hundred more than the day before.
  private func fill(_ days: Int) async throws {
    let today = Timestamp.now.seconds / 86_400 * 86_400
    let samples = (1...days).map { ago in
      Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierStepCount"),
        start: Timestamp(seconds: today - Int64(ago) * 86_400 + 36_000),
        end: Timestamp(seconds: today - Int64(ago) * 86_400 + 39_600), source: Source(name: "Casey's Watch"),
        payload: .quantity(Quantity(Double(10_000 - 100 * ago), "count")))
    }
    try await HealthStore(directory: home.home).apply(ChangeBatch(additions: samples))
  }

  /// Returns the lines that a command shows on an 80x24 terminal.
  private func screen(_ arguments: String...) async throws -> [String] {
    let terminal = try PseudoTerminal(["HPEER_HOME=\(home.home)", "TZ=UTC", Build.hpeer] + arguments)
    _ = try await terminal.exitStatus()
    return terminal.lines
  }

  @Test("without a command: how to begin, and with a record how it is and what comes next")
  func firstScreen() async throws {
    let empty = try await run()
    #expect(empty.output.contains("hpeer import export.zip") && empty.output.contains("hpeer pull NAME"))
    #expect(!FileManager.default.fileExists(atPath: home.home + "/store.sqlite"), "a look makes nothing")
    try await fill(30)
    let full = try await run().output
    for text in ["stepCount", "The record has 30 samples", "Next:", "hpeer serve", "hpeer destination add"] {
      #expect(full.contains(text), "\(text): \(full)")
    }
  }

  @Test("the short help has a screen, and names what has the rest")
  func help() async throws {
    let short = try await run("help").output
    #expect(try await run("-h").output == short)
    #expect(short.split(separator: "\n", omittingEmptySubsequences: false).count <= 26)
    let all = try await run("help", "all").output
    #expect(short.contains("hpeer help all") && all.contains("130 interrupted") && all.contains("undelete"))
  }

  @Test("on a terminal the newest come first, a screenful, with the mean below; --all has all, in order")
  func screenful() async throws {
    try await fill(100)
    let lines = try await screen("stats", "steps", "--from", "90d")
    let rows = lines.filter { $0.hasPrefix("20") }
    #expect(rows.count < 20 && rows == rows.sorted(by: >), "\(lines)")
    #expect(lines.contains { $0.contains("earlier days; --all prints them") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("Mean of a whole day: ") }, "\(lines)")
    let all = try await screen("stats", "steps", "--from", "90d", "--all").filter { $0.hasPrefix("20") }
    #expect(all.count == 90 && all == all.sorted())
    let piped = try await run("stats", "steps", "--from", "90d").output.split(separator: "\n")
    #expect(piped.count { $0.hasPrefix("20") } == 90)
  }

  @Test("two times are compared in one line")
  func versus() async throws {
    let samples = (0..<62).map { day in
      // March has 100 a day, April 150, and the record ends on 1 May.
      let start = Timestamp(seconds: 1_709_280_000 + Int64(day) * 86_400)
      return Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierStepCount"), start: start,
        end: Timestamp(seconds: start.seconds + 600), source: Source(name: "Watch"),
        payload: .quantity(Quantity(day < 31 ? 100 : 150, "count")))
    }
    try await HealthStore(directory: home.home).apply(ChangeBatch(additions: samples))
    let line = try await run("stats", "steps", "april", "2024", "vs", "march", "2024").output
    #expect(
      line == "stepCount, 2024-04-01 to 2024-04-30: 150 a day (30 whole days, 4,500 in all)  "
        + "2024-03-01 to 2024-03-31: 100 a day (31 whole days, 3,100 in all)  +50 %\n")
    let none = try await run("stats", "steps", "this", "month", "vs", "last")
    #expect(none.status == 0 && none.errors.contains("No whole day of stepCount from "), "\(none.errors)")
  }

  @Test("sleep by month has a row for each month")
  func sleepByMonth() async throws {
    let nights = (0..<40).map { night in
      let start = 1_704_150_000 + Int64(night) * 86_400
      return Sample(
        uuid: UUID(), type: SampleType("HKCategoryTypeIdentifierSleepAnalysis"), start: Timestamp(seconds: start),
        end: Timestamp(seconds: start + 7 * 3_600), source: Source(name: "Watch"),
        payload: .category(CategoryValue(value: 3)))
    }
    try await HealthStore(directory: home.home).apply(ChangeBatch(additions: nights))
    let lines = try await run("sleep", "by", "month").output.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("2024-0") && $0.contains("7:00") } == 2, "\(lines)")
  }

  @Test(
    "a word that is no command leads to what is meant, and never to what closes or deletes",
    arguments: [
      ("log", "hpeer audit"), ("share", "hpeer serve"), ("history", "hpeer audit"), ("update", "hpeer pull"),
      ("today", "hpeer summary"), ("weight", "hpeer stats bodyMass"), ("who", "hpeer audit"), ("stop", "hpeer service"),
    ])
  func meant(word: String, command: String) async throws {
    let outcome = try await home.run(word)
    #expect(outcome.status == 2 && outcome.errors.contains("did you mean `\(command)"), "\(outcome.errors)")
    for drastic in ["lock", "delete", "revoke", "unpair"] { #expect(!outcome.errors.contains("`hpeer \(drastic)`")) }
  }

  @Test("sources are known whatever their case, types that are several numbers say what to ask")
  func toThePoint() async throws {
    try await fill(3)
    #expect(try await run("stats", "steps", "--source", "casey's watch").output.contains("9,900"))
    #expect(try await run("stats", "bloodPressure", status: 2).errors.contains("bloodPressureSystolic"))
    #expect(try await run("stats", "sleep", status: 2).errors.contains("hpeer sleep"))
    #expect(try await run("stats", "wieght", status: 2).errors.contains("bodyMass"))
    #expect(try await run("zone", "berlin").output == "Europe/Berlin\n")
    #expect(try await run("stats", "steps", "--from", "last month", "--to", "today", "--zone", "tokyo").status == 0)
    #expect(try await run("audit", "--event", "data.reed", status: 2).errors.contains("data.read"))
    _ = try await run("zone", "paris")
    #expect(try await run("audit", "today").output.contains("setting.changed"))
    #expect(try await run("audit", "show", "yesterday").errors.contains("No matching events."))
    #expect(try await run("audit", "--peer", "nobody").errors.contains("No matching events."))
  }

  @Test("a type alone is all of it, counted first and asked for")
  func deleteAll() async throws {
    try await fill(5)
    let dry = try await run("delete", "--types", "steps", "--dry-run").output
    #expect(dry == "5 samples of stepCount would be deleted\n")
    #expect(try await run("delete", "--types", "steps", status: 2).errors.contains("--yes"))
    #expect(try await run("types").output.contains("stepCount"))
    _ = try await run("delete", "--types", "steps", "--yes")
    #expect(try await !run("types").output.contains("stepCount"))
    _ = try await run("delete", status: 2)
  }

  @Test("several exports are read one after the other, and an encrypted backup is led to where it belongs")
  func severalFiles() async throws {
    let folder = scratch.path + "/downloads"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let export = try await SampleExport.small.path
    for name in ["export.zip", "export-2.zip"] {
      try FileManager.default.copyItem(atPath: export, toPath: "\(folder)/\(name)")
    }
    let outcome = try await run("import", "\(folder)/export.zip", "\(folder)/export-2.zip")
    #expect(outcome.errors.contains("1 of 2") && outcome.errors.contains("2 of 2"), "\(outcome.errors)")
    #expect(try await run("import", folder).errors.contains("2 of 2"))
    try Data("PK no zip".utf8).write(to: URL(fileURLWithPath: folder + "/photos.zip"))
    let some = try await run("import", folder, status: 12)
    #expect(some.errors.contains("photos.zip") && some.errors.contains("3 of 3"), "\(some.errors)")
    let outer = scratch.path + "/outer"
    try FileManager.default.createDirectory(atPath: outer + "/inner", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: export, toPath: outer + "/inner/export.zip")
    #expect(
      try await run("import", outer, status: 65).errors.contains("one by one"), "nothing is passed over in silence")
    try Data("age-encryption.org/v1\n-> scrypt".utf8).write(to: URL(fileURLWithPath: folder + "/x.age"))
    #expect(try await run("import", folder + "/x.age", status: 65).errors.contains("hpeer restore"))
  }

  @Test("a table for spreadsheets of a locale has semicolons and decimal commas")
  func spreadsheet() async throws {
    try await fill(2)
    let lines = try await run("show", "steps", "--csv", "--locale", "de").output.split(whereSeparator: \.isNewline)
    #expect(lines.first == "type;start;end;value;unit;text;source")
    #expect(
      lines.count == 3 && lines.dropFirst().allSatisfy { $0.contains(";9900,0;count;;") || $0.contains(";9800,0;") })
    #expect(try await run("show", "steps", "--csv", "--locale", "en").output.contains(",9900.0,"))
    _ = try await run("show", "steps", "--locale", "de", status: 2)
  }

  @Test("a mistake in config.toml stops what it is about, and nothing else")
  func mistake() async throws {
    try await fill(2)
    let folder = scratch.path + "/kept"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let settings = """
      [destination.fine]
      kind = "folder"
      path = "\(folder)"

      [destination.wrong]
      kind = "folder"
      path = "\(folder)"
      colour = "blue"

      [automation.nightly]
      when = "time"
      do = "deliver"
      at = ["03:00"]
      destinations = ["wrong"]

      """
    try settings.write(toFile: home.home + "/config.toml", atomically: true, encoding: .utf8)
    #expect(chmod(home.home + "/config.toml", 0o600) == 0)
    #expect(try await run("types").output.contains("stepCount"))
    #expect(try await run("stats", "steps").output.contains("9,900"))
    let list = try await run("destination", "list")
    #expect(list.output.contains("fine") && list.errors.contains("config.toml:8"), "\(list.errors)")
    let sync = try await run("sync", status: 12)
    #expect(sync.errors.contains("destination.wrong.colour"), "\(sync.errors)")
    #expect(FileManager.default.fileExists(atPath: folder + "/v1"), "the other destination has its samples")
    #expect(try await run("status", status: 3).output.contains("nightly"))
    _ = try await run("sync", "wrong", status: 2)
    _ = try await run("config", "check", status: 2)
  }

  @Test("an import says when the days of this machine are not those of the record, until a zone is chosen")
  func zoneAdvice() async throws {
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="de_DE">
       <ExportDate value="2026-09-25 10:00:00 +0200"/>
       <Record type="HKQuantityTypeIdentifierBodyMass" sourceName="Scale" unit="kg" creationDate="2026-09-20 08:00:00 +0200" startDate="2026-09-20 08:00:00 +0200" endDate="2026-09-20 08:00:00 +0200" value="81.5"/>
      </HealthData>

      """
    let path = scratch.path + "/export.xml"
    try xml.write(toFile: path, atomically: true, encoding: .utf8)
    func advice(_ zone: String) async throws -> String {
      try await home.start(["import", "--rescan", path], environment: ["TZ": zone]).outcome().errors
    }
    #expect(try await advice("UTC").contains("`hpeer zone Europe/Berlin`"))
    #expect(try await !advice("Europe/Berlin").contains("hpeer zone"))
    _ = try await run("zone", "Europe/Paris")
    #expect(try await !advice("UTC").contains("hpeer zone"))
  }
}
