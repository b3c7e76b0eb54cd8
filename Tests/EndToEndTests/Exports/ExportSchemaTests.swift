import BenchData
import Foundation
import TestSupport
import Testing

/// Tests that each format matches its page in docs/reference/formats and its schema. ``HealthKitToSQLiteTests``
/// covers SQLite; the tests of the writers cover formats with third-party schemas.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ExportSchemaTests {
  private let scratch: Scratch
  private let home: Host
  private static let docs = Build.root + "/docs/reference"

  init() async throws {
    scratch = try Scratch()
    home = scratch.host("home")
    let zip = scratch.path + "/export.zip"
    _ = try MadeExport(records: 1_500).write(to: zip)
    #expect(try await home.run("import", zip).status == 0)
    let deletion = ["delete", "--types", "bodyMass", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await home.start(deletion).outcome().status == 0)
  }

  private func export(_ format: String, _ more: [String] = []) async throws -> String {
    let outcome = try await home.start(["export", "--format", format] + more).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  @Test("JSON is what its schema says")
  func json() async throws {
    let schema = try JSONSchema(directory: Self.docs + "/schemas")
    let fill = ["--by", "month", "--fill", "null"]
    for (format, more, name) in [
      ("json", [], "export-json"), ("hat-json-v1", [], "export-hat-json-v1"), ("hat-json-v2", [], "export-hat-json-v2"),
      ("health-auto-export", [], "export-health-auto-export"), ("statistics-json", fill, "export-statistics-long"),
      ("statistics-json", ["--by", "week"], "export-statistics-long"),
      ("statistics-json", fill + ["--shape", "wide"], "export-statistics-wide"),
      ("statistics-json", ["--shape", "wide"], "export-statistics-wide"),
    ] {
      let violations = try schema.violations(of: try await export(format, more), against: name + ".json")
      #expect(violations.prefix(3) == [], "\(format) \(more)")
      #expect(try schema.problems(in: name + ".json") == [])
    }
    let lines = try await export("ndjson").split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("{\"deleted\"") })
    for line in lines {
      #expect(try schema.violations(of: line, against: "export-ndjson.json").prefix(3) == [], "\(line.prefix(500))")
    }
    #expect(try schema.problems(in: "export-ndjson.json") == [])
  }

  /// A Table Schema (https://specs.frictionlessdata.io/table-schema/).
  private struct TableSchema: Decodable {
    struct Field: Decodable {
      var name: String
      var type: String
    }
    var fields: [Field]
  }

  @Test("tables have the columns that their schemas say")
  func tables() async throws {
    for (format, more, name) in [
      ("csv", [], "csv"), ("hat-csv", [], "hat-csv"), ("statistics-csv", ["--by", "year"], "statistics-csv"),
      ("statistics-csv", ["--by", "year", "--shape", "wide"], "statistics-csv-wide"),
    ] {
      let data = try Data(contentsOf: URL(fileURLWithPath: "\(Self.docs)/formats/\(name).table.json"))
      let fields = try JSONDecoder().decode(TableSchema.self, from: data).fields
      let lines = try await export(format, more).split(whereSeparator: \.isNewline)
      let columns = try #require(lines.first).split(separator: ",").map { $0.filter { $0 != "\"" } }
      #expect(lines.count > 5)
      #expect(Array(columns.prefix(fields.count)) == fields.map(\.name), "\(format)")
      if !more.contains("wide") { #expect(columns.count == fields.count, "\(format)") }
      // What a number is called has its unit.
      for column in columns.dropFirst(fields.count) { #expect(column.contains("("), "\(column)") }
    }
  }

  @Test("every format has a page, and the index names it")
  func pages() async throws {
    let index = try String(contentsOfFile: Self.docs + "/formats/README.md", encoding: .utf8)
    let help = try await home.run("export", "--help").output
    let names = try #require(help.firstMatch(of: #/--format <format>[^(]*\(values: ([^;)]*)/#)?.1)
    let formats = names.split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    #expect(formats.count >= 13, "\(formats)")
    for format in formats {
      #expect(index.contains("`\(format)`") || index.contains("`--format \(format)`"), "\(format)")
    }
    for match in index.matches(of: #/\]\(([a-z-]+\.md)\)/#) {
      let page = try String(contentsOfFile: "\(Self.docs)/formats/\(match.1)", encoding: .utf8)
      for link in page.matches(of: #/\]\(((?!http)[^)#]+)(#[^)]*)?\)/#) {
        let path = "\(Self.docs)/formats/\(link.1)"
        #expect(FileManager.default.fileExists(atPath: path), "\(match.1): \(link.1)")
      }
    }
  }
}
