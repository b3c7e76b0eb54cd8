import BenchData
import Foundation
import Testing

/// Tests of later exports of the same person: months later, from another place, in other units, with a renamed watch.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LaterExportTests {
  private let scratch: Scratch
  private let home: Host

  init() async throws {
    scratch = try Scratch()
    home = scratch.host("home")
    let first = try await export(nil)
    let made = try await Made.once("later-home") { path in
      let outcome = try await RunningCommand([Build.hpeer, "import", "--home", path, first]).outcome()
      try #require(outcome.status == 0, "\(outcome.errors)")
    }
    try FileManager.default.copyItem(atPath: made, toPath: home.home)
  }

  private func export(_ changes: Set<MadeExport.Change>?) async throws -> String {
    let name = changes.map { $0.map(\.rawValue).sorted().joined(separator: "-") } ?? "first"
    return try await Made.once("later-\(name).zip") { path in
      _ = try MadeExport(records: 20_000, changes: changes).write(to: path)
    }
  }

  /// An import's report, without the numbers that vary from day to day.
  private struct Told {
    var added = 0
    var deleted = 0
    var missing = 0
    var snapshot: String?

    init(_ outcome: Outcome) throws {
      let object = try outcome.json()
      snapshot = object["snapshot"] as? String
      for type in object["types"] as? [[String: Any]] ?? [] {
        let name = type["type"] as? String ?? ""
        if name.hasPrefix("HKCharacteristic") || name.contains("ActivitySummary") { continue }
        added += type["added"] as? Int ?? 0
        deleted += type["deleted"] as? Int ?? 0
        missing += type["missing"] as? Int ?? 0
      }
    }
  }

  private func run(_ arguments: String...) async throws -> Told {
    let outcome = try await home.start(["import", "--json"] + arguments).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try Told(outcome)
  }

  @Test(
    "what only reads differently is the same",
    arguments: [[.offset], [.units], [.renamed], [.reordered], [.offset, .units, .renamed, .reordered]]
      as [Set<MadeExport.Change>])
  func theSame(changes: Set<MadeExport.Change>) async throws {
    let later = try await run("--snapshot", try await export(changes))
    #expect((later.added, later.deleted, later.snapshot) == (0, 0, "done"))
  }

  @Test("only what is new is added")
  func new() async throws {
    let before = try await home.sampleCount()
    let later = try await run(try await export([.new, .offset, .units, .renamed]))
    #expect((100...400).contains(later.added), "\(later.added)")
    #expect((later.deleted, later.missing) == (0, 0))
    #expect(try await home.sampleCount() >= before + later.added)
  }

  @Test("what was deleted on the phone: told, tried out, deleted, and it does not come back")
  func deleted() async throws {
    let file = try await export([.deleted, .renamed, .units])
    let told = try await run(file)
    #expect((told.added, told.deleted) == (0, 0))
    #expect((100...400).contains(told.missing), "\(told.missing)")
    let before = try await home.deepDigest()
    let tried = try await run("--snapshot", "--dry-run", file)
    #expect(tried.deleted == told.missing)
    #expect(try await home.deepDigest() == before)
    #expect(try await home.sh("ls '\(home.home)' | grep dry-run").status != 0)
    let done = try await run("--snapshot", file)
    #expect((done.deleted, done.snapshot) == (told.missing, "done"))
    let older = try await run("--snapshot", "--rescan", try await export(nil))
    #expect((older.added, older.deleted, older.snapshot) == (0, 0, "notNewer"))
    try await home.expectIntegrity("snapshot")
  }

  @Test("when much is missing, nothing is deleted unless it is forced")
  func guarded() async throws {
    let small = scratch.path + "/small.xml"
    _ = try MadeExport(records: 2_000, changes: []).write(to: small)
    let before = try await home.sampleCount()
    let outcome = try await home.run("import", "--snapshot", "--json", small)
    #expect(outcome.status == 12)
    #expect(outcome.errors.contains("--force"), "\(outcome.errors)")
    let told = try Told(outcome)
    #expect((told.deleted, told.snapshot) == (0, "refused"))
    #expect(told.missing > 1_000)
    #expect(try await home.sampleCount() >= before)
    let forced = try await run("--snapshot", "--force", "--rescan", small)
    #expect(forced.deleted == told.missing)
  }

  @Test("a file that ends early deletes nothing")
  func cutOff() async throws {
    let path = scratch.path + "/cut.xml"
    let whole = scratch.path + "/whole.xml"
    _ = try MadeExport(records: 20_000, changes: [.deleted]).write(to: whole)
    #expect(try await home.sh("head -c 6000000 '\(whole)' > '\(path)'").status == 0)
    let outcome = try await home.run("import", "--snapshot", "--json", path)
    #expect(outcome.status == 65)
    let told = try Told(outcome)
    #expect((told.deleted, told.snapshot) == (0, "incomplete"))
    // The person is told where.
    let lines = try await home.sh("wc -l < '\(path)'").output.trimmingCharacters(in: .whitespacesAndNewlines)
    let said = try #require(
      outcome.errors.firstMatch(of: /The file ends in the middle of line ([0-9,]+), after (\w+) of \d{4}-\d\d-\d\dT/))
    #expect(said.1.replacing(",", with: "") == String((Int(lines) ?? 0) + 1))
  }
}
