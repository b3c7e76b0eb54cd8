import BenchData
import Foundation
import TestSupport
import Testing

/// Tests that compare the database of `--format sqlite` with that of healthkit-to-sqlite for the same export.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HealthKitToSQLiteTests {
  private let scratch: Scratch
  private let home: Host
  private static let environment = PythonEnvironment("sqlite")
  private static let program = environment.program("healthkit-to-sqlite")
  private static let missing = Comment(rawValue: environment.missing)

  init() throws {
    scratch = try Scratch()
    home = scratch.host("home")
  }

  /// Exports the home's record.
  private func export(_ arguments: String...) async throws -> (path: String, outcome: Outcome) {
    let path = scratch.path + "/ours.db"
    let outcome = try await home.start(
      ["export", "--format", "sqlite", "--output", path, "--force"] + arguments
    ).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return (path, outcome)
  }

  /// Returns the database that healthkit-to-sqlite makes of a zip or XML file.
  private func theirs(_ arguments: String...) async throws -> String {
    let path = scratch.path + "/theirs.db"
    try? FileManager.default.removeItem(atPath: path)
    let program = try #require(Self.program)
    let outcome = try await RunningCommand([program, "--silent"] + arguments + [path]).outcome()
    try #require(outcome.status == 0, "\(outcome.errors)")
    return path
  }

  /// Returns the differences between two databases.
  ///
  /// - Parameter members: The tables of members of correlations, whose rows healthkit-to-sqlite writes twice.
  private func differences(_ arguments: [String], members: [String] = []) async throws -> String {
    let tool = Build.root + "/Tests/Tools/table-differences"
    let outcome = try await RunningCommand(["python3", tool] + arguments + members).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  private func query(_ path: String, _ sql: String) async throws -> [Substring] {
    let outcome = try await RunningCommand(["sqlite3", "-readonly", path, sql]).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output.split(separator: "\n")
  }

  private static let pressures = ["rBloodPressureSystolic", "rBloodPressureDiastolic"]

  private struct Board: Decodable {
    struct Panel: Decodable {
      struct Target: Decodable { var rawQueryText: String }
      var title: String
      var targets: [Target]
    }
    var panels: [Panel]
  }

  @Test("the board for Grafana asks what the database answers: rows in order of time, which begins where samples do")
  func grafana() async throws {
    let zip = scratch.path + "/export.zip"
    _ = try MadeExport(records: 6_000).write(to: zip)
    #expect(try await home.run("import", zip).status == 0)
    let (ours, _) = try await export("--offset", "+02:00")
    let board = try JSONDecoder().decode(
      Board.self, from: Data(contentsOf: URL(filePath: Build.root + "/Examples/Grafana/health.json")))
    #expect(board.panels.count == 4)
    for panel in board.panels where panel.title != "Resting heart rate" {
      let sql = try #require(panel.targets.first?.rawQueryText)
        .replacing("$__from", with: "0").replacing("$__to", with: "4102444800000")
      let times = try await query(ours, sql).map { Int($0.split(separator: "|")[0]) ?? 0 }
      #expect(times.count > 1 && times == times.sorted(), "\(panel.title)")
      #expect((1_400_000_000...1_900_000_000).contains(times.first ?? 0), "\(panel.title)")
    }
  }

  @Test("a whole export: the same tables, columns and rows", .enabled(if: program != nil, missing))
  func wholeExport() async throws {
    let zip = scratch.path + "/export.zip"
    _ = try MadeExport(records: 6_000).write(to: zip)
    #expect(try await home.run("import", zip).status == 0)
    let (ours, outcome) = try await export("--offset", "+02:00")
    #expect(outcome.errors.contains("for which healthkit-to-sqlite has no table"), "\(outcome.errors)")
    #expect(outcome.errors.contains("points exported to"), "\(outcome.errors)")
    #expect(try await query(ours, "SELECT count(*) > 100 FROM workout_points") == ["1"])
    #expect(try await differences([try await theirs(zip), ours], members: Self.pressures) == "")
    // Of the same texts, the identifiers are the same, too. The points are in no file here.
    let xml = scratch.path + "/export.xml"
    #expect(
      try await home.run("export", "--format", "apple-xml", "--offset", "+02:00", "--output", xml).status == 0)
    let differences = try await differences(
      ["--same-texts", try await theirs("--xml", xml), ours], members: Self.pressures)
    #expect(differences == "workout_points: is one too many\n")
  }

  @Test(
    "exports of real phones", .enabled(if: program != nil, missing),
    .enabled(if: FileManager.default.fileExists(atPath: Fixtures.real), "the fixtures are not on this machine"),
    arguments: [
      ("dogsheep-export.xml", "-07:00"), ("v11-ja-bp.y-yu.xml", "+09:00"), ("v13-en_BR.felippecaso.xml", "-03:00"),
      ("v3-ios9-en_GB.tdda.xml", "+01:00"),
    ])
  func realExports(name: String, offset: String) async throws {
    let path = Fixtures.real + "/" + name
    #expect(try await home.run("import", path).status == 0)
    let ours = try await export("--offset", offset).path
    #expect(try await differences([try await theirs("--xml", path), ours], members: Self.pressures) == "")
  }

  /// Tests input on which healthkit-to-sqlite itself fails.
  @Test("twice the same workout, keys that differ in their case, totals of iOS 16, several routes")
  func mended() async throws {
    let dates = #"startDate="2024-06-15 10:00:00 +0200" endDate="2024-06-15 11:00:00 +0200""#
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="en_DE">
       <Record type="HKQuantityTypeIdentifierDietaryWater" sourceName="A" unit="mL" \(dates) value="1">
        <MetadataEntry key="meal" value="a"/><MetadataEntry key="Meal" value="b"/></Record>
       <Record type="HKQuantityTypeIdentifierDietaryWater" sourceName="B" unit="mL" \(dates) value="1">
        <MetadataEntry key="Meal" value="c"/></Record>
       <Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="Watch" \(dates)>
        <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning" \(dates) sum="5.5" unit="km"/>
        <WorkoutRoute sourceName="Phone" \(dates)><Location latitude="1.5" longitude="2.5"/></WorkoutRoute>
        <WorkoutRoute sourceName="Old" \(dates)><Location latitude="3.5" longitude="4.5"/></WorkoutRoute>
       </Workout>
      </HealthData>
      """
    let path = scratch.path + "/export.xml"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    #expect(try await home.run("import", path).status == 0)
    let ours = try await export("--offset", "+02:00").path
    #expect(
      try await query(ours, "SELECT metadata_meal, metadata FROM rDietaryWater ORDER BY sourceName").map(String.init)
        == [#"b|{"metadata_meal":"a"}"#, "c|"])
    #expect(try await query(ours, "SELECT totalDistance, totalDistanceUnit FROM workouts") == ["5.5|km"])
    #expect(
      try await query(
        ours, "SELECT latitude, altitude IS NULL FROM workout_points JOIN workouts ON id = workout_id ORDER BY 1")
        == ["1.5|1", "3.5|1"])
  }

  /// A database without samples has only the tables that always exist, as documented in
  /// docs/reference/formats/sqlite.sql.
  @Test("docs/reference/formats/sqlite.sql is what is written")
  func documented() async throws {
    try await home.hold(.small)
    let ours = try await export("--types", "heartRate,workout,activitySummary").path
    let made = scratch.path + "/documented.db"
    let documented = try await RunningCommand(
      ["bash", "-c", "sqlite3 '\(made)' < '\(Build.root)/docs/reference/formats/sqlite.sql'"]
    ).outcome()
    #expect(documented.status == 0, "\(documented.errors)")
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    #expect(try await query(ours, tables) == query(made, tables))
    for table in try await query(made, tables) {
      let columns = "SELECT name, type, pk FROM pragma_table_info('\(table)') WHERE name NOT LIKE 'metadata_%'"
      let (mine, said) = (try await query(ours, columns), try await query(made, columns))
      // Others come with the rows that have them.
      #expect(Array(mine.prefix(said.count)) == said, "\(table)")
      let keys = "SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list('\(table)')"
      #expect(try await query(ours, keys) == query(made, keys), "\(table)")
    }
  }

  @Test("no stream, no terminal: a file is to be named")
  func refused() async throws {
    try await home.hold(.small)
    for arguments in [[], ["--output", "-"]] {
      let outcome = try await home.start(["export", "--format", "sqlite"] + arguments).outcome()
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("--output"), "\(outcome.errors)")
      #expect(outcome.output.isEmpty)
    }
  }

  @Test("a full disk: one sentence, and nothing is left", .enabled(if: getuid() == 0, "mounting needs root"))
  func fullDisk() async throws {
    try await home.hold(.medium)
    let script = """
      mkdir '\(scratch.path)/small' && mount -t tmpfs -o size=1m tmpfs '\(scratch.path)/small' &&
      { HPEER_HOME='\(home.home)' '\(Build.hpeer)' export --format sqlite --output '\(scratch.path)/small/a.db';
        echo "status $?"; ls -A '\(scratch.path)/small' | wc -l; }
      """
    let outcome = try await RunningCommand(["unshare", "-m", "--propagation", "private", "bash", "-c", script])
      .outcome()
    #expect(outcome.output == "status 1\n0\n", "\(outcome.output) \(outcome.errors)")
    #expect(outcome.errors.contains("is full"), "\(outcome.errors)")
  }
}
