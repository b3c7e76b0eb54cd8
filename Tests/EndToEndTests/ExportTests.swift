import BenchData
import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests of `hpeer export`, and of `hpeer import` of the exported files.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ExportTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var home: Host { scratch.host("home") }

  /// Fills a store with all edge cases and with deletions.
  private func fill(_ host: Host) async throws {
    let store = try HealthStore(directory: host.home)
    var maker = SampleMaker(seed: 21)
    let samples = SampleMaker.edgeCases + maker.samples(3000)
    try await store.apply(ChangeBatch(additions: samples))
    try await store.apply(ChangeBatch(deletions: [Tombstone(sample: samples[0].reference, deleted: .now)]))
  }

  private func contents(_ host: Host) async throws -> [SetDigestText] {
    let digest = try await HealthStore(directory: host.home, create: false).digests.deep().record
    return digest.types.filter { $0.samples.count > 0 }.map {
      SetDigestText(type: $0.type.rawValue, samples: $0.samples.hex, contents: "\($0.contents ?? 0)")
    }
  }

  private struct SetDigestText: Equatable {
    var type: String
    var samples: String
    var contents: String
  }

  private func mode(_ path: String) throws -> Int {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue ?? 0
  }

  /// Returns the names in the folder, including hidden files.
  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0 != "home" }.sorted()
  }

  @Test("what one store exports another holds afterwards, exactly", arguments: ["json", "csv"])
  func roundTrip(format: String) async throws {
    try await fill(home)
    let path = scratch.path + "/export"
    let exported = try await home.run("export", "--format", format, "--output", path)
    #expect(exported.status == 0, "\(exported.errors)")
    #expect(try mode(path) == 0o600)
    let other = scratch.host("other")
    let imported = try await other.run("import", path)
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(try await contents(other) == contents(home))
    let again = try await other.run("import", path)
    #expect(again.lastLine.hasPrefix("0 samples added"), "\(again.output)")
    // And back: what was deleted meanwhile stays so.
    let back = try await home.run("import", path)
    #expect(back.lastLine.hasPrefix("0 samples added"), "\(back.output)")
    let events = try await home.run("audit").output
    #expect(events.contains("export.started"))
    #expect(events.contains("count="))
  }

  @Test("a JSON copy of a whole export has its origin's digest, deletions and all")
  func copyHasTheDigest() async throws {
    let zip = scratch.path + "/export.zip"
    _ = try MadeExport(records: 2_000).write(to: zip)
    #expect(try await home.run("import", zip).status == 0)
    let types = try await home.run("types").output
    for type in ["workoutRoute", "electrocardiogram", "Observation"] { #expect(types.contains(type), "\(types)") }
    let path = scratch.path + "/export.json"
    #expect(try await home.run("export", "--output", path).status == 0)
    let other = scratch.host("other")
    #expect(try await other.run("import", path).status == 0)
    #expect(try await other.deepDigest() == home.deepDigest())
    #expect(try await home.everything().deleted.isEmpty)
  }

  @Test("Apple's format: the same samples as from the zip")
  func appleXML() async throws {
    let zip = try await SampleExport.small.path
    #expect(try await home.run("import", zip).status == 0)
    let path = scratch.path + "/export.xml"
    let exported = try await home.run("export", "--format", "apple-xml", "--offset", "-03:30", "--output", path)
    #expect(exported.status == 0, "\(exported.errors)")
    #expect(!exported.errors.contains("Not exported"))
    let other = scratch.host("other")
    #expect(try await other.run("import", path).status == 0)
    let (mine, theirs) = (try await home.contents(), try await other.contents())
    #expect(Set(mine.keys) == Set(theirs.keys))
    #expect(mine.allSatisfy { theirs[$0.key]?.payload.kind == $0.value.payload.kind })
    #expect(try await home.run("import", path).lastLine.hasPrefix("0 samples added"))
  }

  @Test("Apple's format: routes are in their workouts, and what has no place is counted")
  func appleXMLWithFiles() async throws {
    let folder = scratch.path + "/apple_health_export"
    for name in ["workout-routes", "electrocardiograms"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    let dates = #"startDate="2024-06-15 10:00:00 +0200" endDate="2024-06-15 11:00:00 +0200""#
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="en_DE">
       <Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="Watch" \(dates)>
        <WorkoutRoute sourceName="Phone" \(dates)><FileReference path="/workout-routes/a.gpx"/></WorkoutRoute>
        <WorkoutRoute sourceName="Old" \(dates)><Location latitude="1.5" longitude="2.5"/></WorkoutRoute>
       </Workout>
      </HealthData>
      """
    let gpx = { (hour: Int) in
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="Apple Health Export"><trk><trkseg><trkpt lon="13.4" lat="52.5"><ele>30</ele>\
      <time>2024-06-15T\(10 + hour):00:00Z</time></trkpt></trkseg></trk></gpx>
      """
    }
    let cardiogram = "Name,A\nRecorded Date,2024-06-15 10:00:00 +0200\nSample Rate,512 hertz\n\nUnit,µV\n\n1\n2\n3\n"
    for (name, text) in [
      "export.xml": xml, "workout-routes/a.gpx": gpx(0), "workout-routes/alone.gpx": gpx(1),
      "electrocardiograms/ecg_2024-06-15.csv": cardiogram,
    ] { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    let imported = try await home.run("import", folder)
    #expect(imported.status == 0, "\(imported.errors)")
    let path = scratch.path + "/written.xml"
    let outcome = try await home.run("export", "--format", "apple-xml", "--offset", "+02:00", "--output", path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let said = outcome.output + outcome.errors
    #expect(said.contains("Not exported: 1 sample of electrocardiogram"), "\(said)")
    #expect(said.contains("Not exported: 1 sample of workoutRoute"), "\(said)")
    #expect(said.contains("which 1 sample would have"), "\(said)")
    #expect(said.contains("3 samples exported"), "\(said)")
    let written = try String(contentsOfFile: path, encoding: .utf8)
    let workout = try #require(written.firstRange(of: "<Workout "))
    let rest = written[workout.lowerBound...]
    #expect(rest.components(separatedBy: "<WorkoutRoute ").count == 3)
    #expect(rest.components(separatedBy: #"<FileReference path="/workout-routes/a.gpx"/>"#).count == 2)
    #expect(rest.components(separatedBy: #"<Location latitude="1.5" longitude="2.5"/>"#).count == 2)
    #expect(!written.contains("alone.gpx"))
  }

  @Test("what HealthAppTransfer reads: what it has no place for is named, and reading it back changes nothing")
  func healthAppTransfer() async throws {
    try await home.hold(.small)
    let before = try await contents(home)
    let other = scratch.host("other")
    for format in ["hat-json-v1", "hat-json-v2", "hat-csv"] {
      let path = scratch.path + "/\(format)"
      let exported = try await home.run("export", "--format", format, "--output", path)
      #expect(exported.status == 0, "\(exported.errors)")
      #expect(exported.errors.contains("Not exported: "), "\(exported.errors)")
      #expect(exported.errors.contains("for which HealthAppTransfer has no place"), "\(exported.errors)")
      let back = try await home.run("import", path)
      #expect(back.status == 0, "\(back.errors)")
      #expect(back.lastLine.hasPrefix("0 samples added"), "\(back.output)")
      #expect(try await contents(home) == before)
      let there = try await other.run("import", path)
      #expect(there.status == 0, "\(there.errors)")
      // The first brings all that there is in the others.
      #expect(there.lastLine.hasPrefix("0 samples added") == (format != "hat-json-v1"), "\(there.output)")
    }
  }

  @Test("routes as tracks, workouts as events, numbers as a table")
  func tracksAndEvents() async throws {
    let zip = scratch.path + "/export.zip"
    _ = try MadeExport(records: 2_000).write(to: zip)
    #expect(try await home.run("import", zip).status == 0)
    let gpx = try await home.run("export", "--format", "gpx")
    #expect(gpx.status == 0, "\(gpx.errors)")
    #expect(gpx.output.contains("<trkpt lat="))
    #expect(gpx.output.hasSuffix("</gpx>\n"))
    #expect(gpx.errors.contains("point"), "\(gpx.errors)")
    let calendar = try await home.run("export", "--format", "ics")
    #expect(calendar.status == 0, "\(calendar.errors)")
    #expect(calendar.output.contains("BEGIN:VEVENT\r\n"))
    for wrong in [
      ["--format", "gpx", "--types", "stepCount"], ["--format", "ics", "--types", "workoutRoute"],
      ["--format", "csv", "--defuse-formulas"], ["--format", "of tomorrow"],
    ] { #expect(try await home.start(["export"] + wrong).outcome().status == 2, "\(wrong)") }
    let table = try await home.run("stats", "stepCount", "heartRate", "--by", "month", "--csv")
    #expect(table.status == 0, "\(table.errors)")
    let rows = table.output.components(separatedBy: "\r\n")
    #expect(rows[0].hasPrefix("type,unit,bucket,zone,start,end,date,partial,sum,mean,"))
    #expect(rows.dropFirst().contains { $0.hasPrefix("stepCount,count,month,") })
    #expect(rows.dropFirst().contains { $0.hasPrefix("heartRate,count/min,month,") })
    #expect(rows.last == "")
    #expect(try await home.run("stats", "stepCount", "--csv", "--json").status == 2)
  }

  @Test("standard output, and only some of it")
  func selection() async throws {
    try await home.hold(.small)
    let all = try await home.contents().values
    let types = ["HKQuantityTypeIdentifierStepCount", "HKQuantityTypeIdentifierHeartRate"]
    let starts = all.filter { types.contains($0.type.rawValue) }.map(\.start.iso8601).sorted()
    try #require(starts.count > 10)
    let (since, until) = (starts[starts.count / 3], starts[starts.count * 2 / 3])
    let outcome = try await home.run("export", "--types", "stepCount,heartRate", "--from", since, "--to", until)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let expected = all.filter {
      types.contains($0.type.rawValue) && $0.start.iso8601 >= since && $0.start.iso8601 < until
    }
    #expect(!expected.isEmpty)
    let lines = outcome.output.split(separator: "\n").dropFirst().dropLast()
    #expect(lines.count == expected.count)
    let document = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    let samples = try #require(document?["samples"] as? [[String: Any]])
    #expect(Set(samples.compactMap { $0["uuid"] as? String }) == Set(expected.map(\.uuid.uuidString)))
  }

  @Test(
    "the name of the file says what it is",
    arguments: [
      ("health.csv", "uuid,type,"), ("health.ndjson", "{"), ("health.xml", "<?xml"), ("health.zip", "PK"),
      ("health.db", "SQLite format 3"), ("HEALTH.CSV.gz", "\u{1F}"), ("health", "{"),
    ])
  func named(file: String, beginning: String) async throws {
    try await fill(home)
    let path = scratch.path + "/" + file
    let outcome = try await home.run("export", "--output", path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(beginning.utf8.count)
    #expect(String(decoding: bytes, as: UTF8.self) == beginning)
  }

  @Test(
    "a name that contradicts the format is refused, with what would fit",
    arguments: [
      (["export", "--format", "json", "--output", "steps.csv"], "--format csv"),
      (["export", "--format", "statistics-csv", "--output", "weeks.json"], "name it .csv"),
      (["export", "--output", "health.xlsx"], "--format csv"), (["export", "--output", "health.pdf"], "hpeer report"),
      (["report", "--format", "html", "--output", "report.pdf"], ".html"),
      (["report", "--output", "report.csv"], ".html"),
    ])
  func contradicted(arguments: [String], remedy: String) async throws {
    try await fill(home)
    let outcome = try await home.start(arguments.dropLast() + [scratch.path + "/" + (arguments.last ?? "")]).outcome()
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(remedy), "\(outcome.errors)")
    #expect(try files() == [])
  }

  @Test("a file that is there stays, unless it is to be replaced")
  func existing() async throws {
    try await fill(home)
    let path = scratch.path + "/export.json"
    try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
    let refused = try await home.run("export", "--output", path)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("--force"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    #expect(try await home.run("export", "--output", path, "--force").status == 0)
    #expect(try await scratch.host("other").run("import", path).status == 0)
    #expect(try await home.run("export", "--output", scratch.path).status == 2)
    #expect(try await home.run("export", "--output", scratch.path + "/none/export.json").status == 1)
    #expect(try files() == ["export.json", "other"])
  }

  @Test(
    "interrupted: nothing is left, and the code is 130",
    .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"),
    arguments: [SIGINT, SIGTERM])
  func interrupted(signal: Int32) async throws {
    try await home.hold(.medium)
    let path = scratch.path + "/export.json"
    let export = try await HeldCommand(
      ["export", "--output", path], on: home, at: .writes, under: scratch.path
    ) {
      try files().contains {
        let size = try? FileManager.default.attributesOfItem(atPath: scratch.path + "/" + $0)[.size] as? NSNumber
        return size?.intValue ?? 0 > 0
      }
    }
    try export.release(with: signal)
    let outcome = try await export.command.outcome()
    #expect(outcome.status == 130, "\(outcome.errors)")
    #expect(outcome.errors.contains("no file was written"))
    #expect(try files().isEmpty)
  }

  @Test("a full disk: one sentence, and nothing is left", .enabled(if: getuid() == 0, "mounting needs root"))
  func fullDisk() async throws {
    try await home.hold(.medium)
    let script = """
      mkdir '\(scratch.path)/small' && mount -t tmpfs -o size=1m tmpfs '\(scratch.path)/small' &&
      { HPEER_HOME='\(home.home)' '\(Build.hpeer)' export --output '\(scratch.path)/small/export.json'; echo "status $?";
        ls -A '\(scratch.path)/small' | wc -l; }
      """
    let outcome = try await RunningCommand(["unshare", "-m", "--propagation", "private", "bash", "-c", script])
      .outcome()
    #expect(outcome.output == "status 1\n0\n", "\(outcome.output) \(outcome.errors)")
    #expect(outcome.errors.contains("full"))
    #expect(outcome.errors.split(separator: "\n").count == 1)
  }

  @Test("files of Health Auto Export in any order")
  func healthAutoExport() async throws {
    func file(_ name: String, _ points: [(Int, Int)]) throws -> String {
      let data = points.map { #"{"date":"2024-06-\#($0.0) 00:00:00 +0200","qty":\#($0.1),"source":"Watch"}"# }
      let text =
        #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[\#(data.joined(separator: ","))]}]}}"#
      let path = scratch.path + "/" + name
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    let files = [
      try file("a", [(11, 5), (12, 3)]), try file("b", [(11, 6), (12, 900), (13, 2)]),
      try file("c", [(13, 800), (14, 1)]),
    ]
    var tables: Set<String> = []
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let host = scratch.host(order.map { String($0) }.joined())
      for index in order { #expect(try await host.run("import", files[index]).status == 0) }
      tables.insert(try await host.run("show", "hae.step_count").output)
    }
    #expect(tables.count == 1)
    #expect(
      tables.first?.split(separator: "\n").map { $0.split(separator: " ")[2] } == ["1", "800", "900", "6"])
    let later = scratch.host("later")
    #expect(try await later.run("import", files[1]).status == 0)
    #expect(try await later.run("import", files[0], "--as-of", "2024-06-30").lastLine.hasPrefix("2 samples added"))
  }

  @Test("a file that is cut off, and one that is nonsense: code 65")
  func badFiles() async throws {
    try await fill(home)
    let path = scratch.path + "/export.json"
    #expect(try await home.run("export", "--output", path).status == 0)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
    let cut = try await scratch.host("other").run("import", path)
    #expect(cut.status == 65)
    #expect(cut.errors.contains("whole"))
    #expect(try await scratch.host("other").sampleCount() > 0)
    try Data(#"{"format":"hpeer","version":1,"samples":[{"uuid":7}]}"#.utf8).write(to: URL(fileURLWithPath: path))
    let nonsense = try await scratch.host("other").run("import", path)
    #expect(nonsense.status == 65)
    #expect(nonsense.errors.contains("line 1, column 42"), "\(nonsense.errors)")
  }
}
