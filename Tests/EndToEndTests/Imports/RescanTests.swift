import Foundation
import Testing

/// Tests of repeated imports of the same file.
@Suite(.timeLimit(.minutes(5)))
struct RescanTests {
  @Test("what is printed twice counts once")
  func membersOfCorrelations() async throws {
    let scratch = try Scratch()
    let home = scratch.host("home")
    func dates(_ minute: Int) -> String {
      #"creationDate="2024-06-15 10:00:00 +0000" startDate="2024-06-15 10:\#(minute):00 +0000""#
        + #" endDate="2024-06-15 10:\#(minute):00 +0000""#
    }
    let elements = (10..<30).flatMap { minute in
      let members = ["Systolic", "Diastolic"].map {
        #"<Record type="HKQuantityTypeIdentifierBloodPressure\#($0)" sourceName="Cuff" unit="mmHg" value="\#(minute)" "#
          + "\(dates(minute))/>"
      }
      return members + [
        #"<Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Cuff" \#(dates(minute))>"#
          + members.joined() + "</Correlation>"
      ]
    }
    let path = scratch.path + "/export.xml"
    try Data("<HealthData>\(elements.joined(separator: "\n"))</HealthData>".utf8).write(to: URL(fileURLWithPath: path))
    for arguments in [[], ["--rescan"], ["--rescan", "--dry-run"]] {
      let outcome = try await home.start(["import", "--json"] + arguments + [path]).outcome()
      let types = try #require(try outcome.json()["types"] as? [[String: Any]])
      let counts = types.map { type in ["read", "added", "unchanged"].map { type[$0] as? Int ?? 0 } }
      #expect(counts == Array(repeating: arguments.isEmpty ? [20, 20, 0] : [20, 0, 20], count: 3))
    }
    #expect(try await home.sampleCount() == 60)
  }
}
