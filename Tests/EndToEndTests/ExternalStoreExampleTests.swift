import BenchData
import Foundation
import Testing

/// Tests of the program in Examples/TextFileStore with a record that hpeer maintains.
@Suite(.timeLimit(.minutes(5)))
struct ExternalStoreExampleTests {
  private static let example = URL(fileURLWithPath: Build.hpeer).deletingLastPathComponent()
    .appendingPathComponent("text-file-store").path

  @Test("a file of text follows the record: what is new, what is deleted, and nothing twice")
  func follows() async throws {
    let scratch = try Scratch()
    let home = scratch.host("home")
    let (zip, file) = (scratch.path + "/export.zip", scratch.path + "/heart.txt")
    _ = try MadeExport(records: 600).write(to: zip)
    #expect(try await home.run("import", zip).status == 0)

    func synchronized() async throws -> [String] {
      let outcome = try await home.sh("'\(Self.example)' '\(home.home)' '\(file)'")
      #expect(outcome.status == 0, "\(outcome.errors)")
      return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }
    func heartRates() async throws -> Set<String> {
      let csv = try await home.run("export", "--format", "csv", "--types", "heartRate").output
      return Set(
        csv.split(separator: "\r\n").dropFirst().compactMap { $0.split(separator: ",").first.map(String.init) })
    }
    func uuids(_ lines: [String]) -> Set<String> {
      Set(lines.compactMap { $0.split(separator: " ").first.map(String.init) })
    }

    let lines = try await synchronized()
    let all = try await heartRates()
    #expect(lines.count > 50 && lines.count == all.count)
    #expect(uuids(lines) == all)
    #expect(try await synchronized() == lines)
    let last = try #require(lines.map { $0.split(separator: " ")[1] }.max())
    let outcome = try await home.run(
      "delete", "--types", "heartRate", "--from", String(last.prefix(10)), "--to", String(last.prefix(10)), "--utc",
      "--yes")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let left = try await synchronized()
    #expect(left.count < lines.count)
    #expect(uuids(left) == (try await heartRates()))
  }
}
