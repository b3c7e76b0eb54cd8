import Foundation
import Terminal
import Testing

/// Tests of `hpeer import --undo`, which restores the state before an import as long as no other machine has the
/// samples.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct UndoImportTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test("a later export is taken back and can be imported again")
  func laterExport() async throws {
    let home = scratch.host("home")
    let none = try await home.run("import", "--undo")
    #expect(none.status == 10, "\(none.errors)")
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let before = try await (home.deepDigest(), home.run("types").output)
    let imported = try await home.run("import", "--json", SampleExport.smallLater.path).json()
    let after = try await home.deepDigest()
    let (added, deleted) = (try #require(imported["added"] as? Int), try #require(imported["deleted"] as? Int))
    try #require(added > 0 && deleted > 0)

    let tried = try await home.run("import", "--undo", "--dry-run")
    #expect(tried.status == 0, "\(tried.errors)")
    #expect(tried.lastLine.hasPrefix("Would take back \(HumanFormat.count(added, "sample")) of small-later.zip, "))
    #expect(tried.lastLine.contains("bring back \(HumanFormat.count(deleted)) "))
    #expect(try await home.deepDigest() == after)

    let undone = try await home.run("import", "--undo", "--json").json()
    #expect(undone["removed"] as? Int == added)
    #expect(undone["restored"] as? Int == deleted)
    #expect(undone["file"] as? String == "small-later.zip")
    #expect(try await home.deepDigest() == before.0)
    #expect(try await home.run("types").output == before.1)
    try await home.expectIntegrity("undone")
    let twice = try await home.run("import", "--undo")
    #expect(twice.status == 1)
    #expect(twice.errors.contains("no import here that could be undone"), "\(twice.errors)")

    // The very same bytes are read again.
    let again = try await home.run("import", "--json", SampleExport.smallLater.path).json()
    #expect(again["added"] as? Int == added)
    #expect(try await home.deepDigest() == after)
    let events = try await home.auditEvents().map(\.event)
    #expect(
      events == [
        "import.started", "import", "import.started", "import", "import.undone", "import.started", "import",
      ])
  }

  @Test("an import that changes nothing leaves the one before to be undone")
  func nothingNew() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let before = try await home.deepDigest()
    #expect(try await home.run("import", SampleExport.smallLater.path).status == 0)
    let again = try await home.run("import", "--rescan", "--json", SampleExport.smallLater.path).json()
    try #require(again["added"] as? Int == 0 && again["deleted"] as? Int == 0)
    let undone = try await home.run("import", "--undo", "--json").json()
    #expect(undone["file"] as? String == "small-later.zip")
    #expect(undone["removed"] as? Int ?? 0 > 0)
    #expect(try await home.deepDigest() == before)
    let added = try await home.run("import", "--json", SampleExport.smallLater.path).json()
    #expect(added["added"] as? Int == undone["removed"] as? Int)
    try await home.expectIntegrity("undone")
  }

  @Test("the first import of all, of any format")
  func firstImport() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let copy = scratch.path + "/copy.json"
    #expect(try await home.run("export", "--output", copy).status == 0)
    let digest = try await home.deepDigest()
    let other = scratch.host("other")
    for (host, file) in [(home, try await SampleExport.small.path), (other, copy)] {
      if host.home == other.home { #expect(try await host.run("import", file).status == 0) }
      let undone = try await host.run("import", "--undo")
      #expect(undone.status == 0, "\(undone.errors)")
      #expect(undone.lastLine.hasSuffix(" taken back, 0 brought back; the same file can be imported again"))
      #expect(try await host.sampleCount() == 0)
      #expect(try await host.run("import", file).status == 0)
      #expect(try await host.deepDigest() == digest)
      try await host.expectIntegrity(file)
    }
  }

  @Test("a machine that had read before goes on, and one that has it is named")
  func peers() async throws {
    let homes = try await PairedHomes(export: .small)
    let (studio, laptop) = (homes.studio, homes.laptop)
    let (server, port) = try await homes.serve()
    try await homes.remember(port: port)
    #expect(try await laptop.run("pull").status == 0)
    let before = try await studio.deepDigest()
    #expect(try await studio.run("import", SampleExport.smallLater.path).status == 0)
    let undone = try await studio.run("import", "--undo")
    #expect(undone.status == 0, "\(undone.errors)")
    let verified = try await laptop.run("pull", "--verify", "--deep", "--json")
    #expect(verified.status == 0, "\(verified.errors)")
    #expect(try await (studio.deepDigest(), laptop.deepDigest()) == (before, before))

    #expect(try await studio.run("import", SampleExport.smallLater.path).status == 0)
    let after = try await studio.deepDigest()
    #expect(try await laptop.run("pull").status == 0)
    let name = try #require(try await studio.auditEvents().last { $0.event == "data.read" }?.detail["peer"])
    for arguments in [["--dry-run"], []] {
      let refused = try await studio.start(["import", "--undo"] + arguments).outcome()
      #expect(refused.status == 1)
      #expect(
        refused.errors.contains("cannot be undone any more: \(name) has read what it brought"), "\(refused.errors)")
      #expect(refused.errors.contains("hpeer delete"))
      #expect(refused.errors.split(separator: "\n").count == 1)
    }
    let verifiedAgain = try await laptop.run("pull", "--verify", "--deep")
    #expect(verifiedAgain.status == 0, "\(verifiedAgain.errors)")
    #expect(try await (studio.deepDigest(), laptop.deepDigest()) == (after, after))
    // What was replaced is not kept for an undoing that cannot be.
    let kept = try await RunningCommand(
      ["sqlite3", studio.home + "/store.sqlite", "SELECT COUNT(*) FROM undoSample"]
    ).outcome()
    #expect(kept.output == "0\n")

    // The laptop's own last change is a pull.
    let pulled = try await laptop.run("import", "--undo")
    #expect(pulled.status == 1)
    #expect(pulled.errors.contains("no import here"), "\(pulled.errors)")
    try await server.end()
  }

  @Test("what came after it is said")
  func later() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let deletion = ["delete", "--types", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await home.start(deletion).outcome().status == 0)
    let digest = try await home.deepDigest()
    let refused = try await home.run("import", "--undo")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("stepCount was deleted from since"), "\(refused.errors)")
    #expect(try await home.deepDigest() == digest)
  }

  @Test("while an import runs, nothing is undone; of one that was killed, what there is")
  func running() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let before = try await (home.deepDigest(), home.sampleCount())
    let export = try await LongExport.made.value
    let command = try home.start(["import", export.zip])
    try await eventually("a part is in the store") { try await home.sampleCount() > before.1 ? true : nil }
    command.send(SIGSTOP)
    let refused = try await home.run("import", "--undo")
    #expect(refused.status == 11, "\(refused.errors)")
    #expect(refused.errors.contains("is running"))
    try await command.end()
    let undone = try await home.run("import", "--undo")
    #expect(undone.status == 0, "\(undone.errors)")
    #expect(try await home.deepDigest() == before.0)
    try await home.expectIntegrity("killed and undone")
  }

  @Test("what cannot be meant is refused", arguments: [["export.zip"], ["--snapshot"], ["--rescan"], ["--force"]])
  func misuse(arguments: [String]) async throws {
    #expect(try await scratch.host("home").start(["import", "--undo"] + arguments).outcome().status == 2)
  }
}
