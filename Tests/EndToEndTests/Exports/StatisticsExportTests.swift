import Foundation
import TestSupport
import Testing

/// Tests of `--format statistics-csv` and `statistics-json`, which write the output of `hpeer stats` to a file.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct StatisticsExportTests {
  private let scratch: Scratch
  private let home: Host

  init() throws {
    scratch = try Scratch()
    home = scratch.host("home")
  }

  private func run(_ arguments: [String]) async throws -> String {
    let outcome = try await home.start(arguments).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  private static let types = ["heartRate", "stepCount"]
  private static let questions: [[String]] = [
    ["--by", "day", "--zone", "Europe/Berlin"], ["--by", "week", "--week-start", "sunday", "--utc"],
    ["--by", "month", "--zone", "+05:45", "--fill", "null"],
  ]

  private func object(_ text: some StringProtocol) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
  }

  @Test(
    "long: the same bytes as of hpeer stats --csv, the same objects as of --json",
    arguments: questions + [["--by", "hour", "--zone", "Asia/Kolkata"]])
  func long(question: [String]) async throws {
    try await home.hold(.small)
    let selection = ["--types", Self.types.joined(separator: ",")]
    let csv = try await run(["export", "--format", "statistics-csv"] + selection + question)
    #expect(csv == (try await run(["stats"] + Self.types + question + ["--csv"])))
    #expect(csv.split(separator: "\r\n").count > 2)
    let json = try object(try await run(["export", "--format", "statistics-json"] + selection + question))
    let printed = try await run(["stats"] + Self.types + question + ["--json"])
    #expect(json["statistics"] as? NSArray == NSArray(array: try printed.split(separator: "\n").map(object)))
    #expect(json["shape"] as? String == "long")
    #expect(json["bucket"] as? String == question[1])
  }

  @Test("wide: the same numbers, a column for each", arguments: questions)
  func wide(question: [String]) async throws {
    try await home.hold(.small)
    let selection = ["--types", Self.types.joined(separator: ","), "--shape", "wide"]
    let printed = try await run(["stats"] + Self.types + question + ["--json"]).split(separator: "\n").map(object)
    var expected: [String: [String: NSNumber]] = [:]
    for (statistics, type) in zip(printed, Self.types) {
      for value in try #require(statistics["values"] as? [NSDictionary]) {
        let start = try #require(value["start"] as? String)
        for (name, member) in type == "stepCount"
          ? [("stepCount", "sum")] : ["mean", "min", "max"].map({ ("\(type).\($0)", $0) })
        {
          if let number = value[member] as? NSNumber { expected[start, default: [:]][name] = number }
        }
      }
    }
    let json = try object(try await run(["export", "--format", "statistics-json"] + selection + question))
    let columns = try #require(json["columns"] as? [NSDictionary]).compactMap { $0["name"] as? String }
    #expect(columns == ["heartRate.mean", "heartRate.min", "heartRate.max", "stepCount"])
    let rows = try #require(json["rows"] as? [NSDictionary])
    let fills = question.contains("--fill")
    var found: [String: [String: NSNumber]] = [:]
    for row in rows {
      for name in columns {
        #expect((row[name] == nil) != (fills || row[name] is NSNumber))
        if let number = row[name] as? NSNumber {
          found[try #require(row["start"] as? String), default: [:]][name] = number
        }
      }
    }
    #expect(found == expected)
    let starts = rows.compactMap { $0["start"] as? String }
    #expect(starts == starts.sorted())
    let csv = try await run(["export", "--format", "statistics-csv"] + selection + question)
    let lines = csv.components(separatedBy: "\r\n").dropLast()
    #expect(
      lines.first?.filter { $0 != "\"" }
        == "bucket,zone,start,end,date,partial,heartRate.mean (count/min),heartRate.min (count/min),"
        + "heartRate.max (count/min),stepCount (count)")
    #expect(lines.count == rows.count + 1)
    for (line, row) in zip(lines.dropFirst(), rows) {
      let fields = line.components(separatedBy: ",")
      #expect(fields.count == 10)
      #expect(fields[2] == row["start"] as? String)
      // Kept numbers and computed ones differ by the rounding of sums in another order.
      let (sum, expected) = (Double(fields[9]), (row["stepCount"] as? NSNumber)?.doubleValue)
      #expect((sum == nil) == (expected == nil))
      if let sum, let expected { #expect(abs(sum - expected) <= 1e-9 * max(1, abs(expected))) }
    }
  }

  @Test("gaps: absent, or there without a number")
  func gaps() async throws {
    let records = [(1, 100), (2, 200), (5, 500)].map { day, value in
      """
      <Record type="HKQuantityTypeIdentifierStepCount" sourceName="A" unit="count" value="\(value)" \
      startDate="2024-06-0\(day) 10:00:00 +0000" endDate="2024-06-0\(day) 10:10:00 +0000"/>
      """
    }
    let path = scratch.path + "/export.xml"
    let text = "<?xml version=\"1.0\"?><HealthData locale=\"en\">\(records.joined())</HealthData>"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    #expect(try await home.run("import", path).status == 0)
    func dates(_ arguments: [String]) async throws -> [String] {
      try await run(arguments + ["--utc"]).components(separatedBy: "\r\n").dropFirst().dropLast().map { line in
        let fields = line.components(separatedBy: ",")
        return "\(fields[6].suffix(2)) \(fields[8])"
      }
    }
    let plain = ["1 100.0", "2 200.0", "5 500.0"].map { "0" + $0 }
    #expect(try await dates(["stats", "stepCount", "--csv"]) == plain)
    let filled = ["01 100.0", "02 200.0", "03 ", "04 ", "05 500.0"]
    #expect(try await dates(["stats", "stepCount", "--csv", "--fill", "null"]) == filled)
    let longer = ["--from", "2024-05-31", "--to", "2024-06-06", "--fill", "null"]
    #expect(try await dates(["stats", "stepCount", "--csv"] + longer) == ["31 "] + filled + ["06 "])
    for (shape, extra) in [("long", []), ("long", longer), ("wide", []), ("wide", longer)] {
      let arguments =
        ["export", "--format", "statistics-csv", "--shape", shape, "--fill", "null", "--utc"]
        + extra.filter { $0 != "--fill" && $0 != "null" }
      let lines = try await run(arguments).components(separatedBy: "\r\n").dropFirst().dropLast()
      #expect(lines.count == (extra.isEmpty ? 5 : 7), "\(shape) \(extra)")
    }
    let printed = try await run(["stats", "stepCount", "--json", "--fill", "null", "--utc"])
    #expect(printed.contains(#""sum":null"#), "\(printed)")
    for wrong in [
      ["stats", "stepCount", "--fill", "null"], ["export", "--by", "day"],
      ["export", "--format", "csv", "--shape", "wide"],
      ["export", "--format", "statistics-csv", "--fill", "zero"],
    ] { #expect(try await home.start(wrong).outcome().status == 2, "\(wrong)") }
  }

  @Test("what has no numbers is named")
  func leftOut() async throws {
    try await home.hold(.small)
    let path = scratch.path + "/all.csv"
    let outcome = try await home.run(
      "export", "--format", "statistics-csv", "--by", "year", "--shape", "wide", "--output", path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("of sleepAnalysis, for which there are no statistics"), "\(outcome.errors)")
    #expect(outcome.errors.contains(" row"), "\(outcome.errors)")
  }
}
