import Foundation
import Terminal
import Testing

/// Tests of samples that were deleted here: an import mentions them, and `hpeer undelete` restores them.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct UndeleteTests {
  private let scratch: Scratch
  private let home: Host

  init() async throws {
    scratch = try Scratch()
    home = scratch.host("home")
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
  }

  private let steps = ["--types", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01"]

  /// Deletes the steps. Returns the number of deleted samples.
  private func deleteSteps(_ host: Host) async throws -> Int {
    let before = try await host.sampleCount()
    #expect(try await host.start(["delete", "--yes"] + steps).outcome().status == 0)
    return try await before - host.sampleCount()
  }

  private func grouped(_ number: Int) -> String { HumanFormat.count(number) }

  @Test("without a terminal to ask on nothing is deleted, and it is said what would be and how")
  func noTerminal() async throws {
    let before = try await home.sampleCount()
    let outcome = try await home.start(["delete"] + steps).outcome()
    #expect(outcome.status == 2)
    #expect(
      outcome.errors.contains(#/Delete [\d,]+ samples of stepCount, .* Use --yes to answer in advance\./#),
      "\(outcome.errors)")
    #expect(try await home.sampleCount() == before)
    let unbounded = try await home.run("delete", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01")
    #expect(unbounded.status == 2 && unbounded.errors.contains("--types, --source or both"))
  }

  @Test("an import counts what is deleted here, and names the way to bring it back")
  func told() async throws {
    let deleted = try await deleteSteps(home)
    try #require(deleted > 100)
    let again = try await home.run("import", "--rescan", SampleExport.small.path)
    #expect(again.status == 0)
    #expect(again.lastLine.hasPrefix("0 samples added, "), "\(again.output)")
    #expect(again.lastLine.contains("already here, \(grouped(deleted)) deleted here, not added again, in "))
    #expect(again.output.contains("DELETED HERE"))
    #expect(again.errors.contains("hpeer undelete --types TYPE"), "\(again.errors)")
    let json = try await home.run("import", "--rescan", "--json", SampleExport.small.path).json()
    #expect(json["refused"] as? Int == deleted)
    let tried = try await home.run("import", "--rescan", "--dry-run", SampleExport.small.path)
    #expect(tried.lastLine.contains("\(grouped(deleted)) deleted here; nothing was changed"), "\(tried.lastLine)")
  }

  @Test("it comes back only when somebody says so, and only once")
  func backAgain() async throws {
    let file = try await SampleExport.small.path
    let none = try await home.start(["undelete"] + steps + ["--yes", "--json", file]).outcome()
    #expect((try none.json()["types"] as? [Any])?.isEmpty == true)
    let before = try await home.sampleCount()
    let deleted = try await deleteSteps(home)
    let asked = try await home.start(["undelete"] + steps + [file]).outcome()
    #expect(asked.status == 2, "\(asked.errors)")
    let tried = try await home.start(["undelete"] + steps + ["--dry-run", "--json", file]).outcome()
    let entries = try #require(try tried.json()["types"] as? [[String: Any]])
    #expect(entries.map { $0["found"] as? Int } == [deleted])
    #expect(entries.map { $0["restored"] as? Int } == [0])
    #expect(tried.errors.contains("Would bring back \(grouped(deleted)) samples of stepCount ("), "\(tried.errors)")
    #expect(try await home.sampleCount() == before - deleted)

    let done = try await home.start(["undelete"] + steps + ["--yes", file]).outcome()
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.lastLine == "\(grouped(deleted)) samples of stepCount brought back")
    #expect(try await home.sampleCount() == before)
    let again = try await home.run("import", "--rescan", "--json", file).json()
    #expect(again["refused"] as? Int == 0)
    #expect(again["added"] as? Int == 0)
    #expect(try await home.sampleCount() == before)
    var restored = 0
    for event in try await home.auditEvents() where event.event == "undelete" {
      restored += Int(event.detail["count"] ?? "") ?? 0
    }
    #expect(restored == deleted)
    try await home.expectIntegrity("undeleted")
  }

  @Test("two machines that bring the same back from different files have the same")
  func twoMachines() async throws {
    let copy = scratch.path + "/copy.json"
    #expect(try await home.run("export", "--output", copy).status == 0)
    let other = try home.copy("other")
    for host in [home, other] { #expect(try await deleteSteps(host) > 0) }
    let zip = try await SampleExport.small.path
    for (host, file) in [(home, zip), (other, copy)] {
      let outcome = try await host.start(["undelete"] + steps + ["--yes", file]).outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    #expect(try await other.deepDigest() == home.deepDigest())
  }

  @Test("what it cannot take is said", arguments: [["-"], ["/nowhere.zip"], []])
  func misuse(file: [String]) async throws {
    let outcome = try await home.start(["undelete"] + steps + file).outcome()
    #expect([2, 65].contains(outcome.status), "\(outcome.errors)")
  }
}
