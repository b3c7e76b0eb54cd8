import BenchData
import Foundation
import Testing

/// Tests of an import while other processes use its store or its file.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ImportSharingTests {
  private let scratch: Scratch
  private let export: LongExport

  init() async throws {
    scratch = try Scratch()
    export = try await LongExport.made.value
  }

  @Test("two imports of one file at once, into a store that neither finds: each sample once")
  func together() async throws {
    let host = scratch.host("home")
    let commands = try [export.zip, export.zip].map { try host.start(["import", $0, "--json"]) }
    var added = 0
    for command in commands {
      let outcome = try await command.outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
      added += try #require(outcome.json()["added"] as? Int)
    }
    #expect(added == export.samples)
    try await host.expectUndisturbed(export, "two at once")
  }

  @Test("while the store is served, pulled and followed: everything arrives")
  func served() async throws {
    let homes = try await PairedHomes(export: .small)
    let (_, port) = try await homes.serve()
    try await homes.remember(port: port)
    let follower = try homes.laptop.copy("follower")
    let following = try follower.start(["pull", "--watch"])
    try await following.errors(matching: #/up to date/#)

    let before = try await homes.studio.sampleCount()
    let command = try homes.studio.start(["import", export.zip])
    try await eventually("a part is in the store") { try await homes.studio.sampleCount() > before ? true : nil }
    let early = try await homes.laptop.run("pull")
    #expect(early.status == 0, "\(early.errors)")
    let outcome = try await command.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")

    let last = try await homes.laptop.run("pull", "--verify", "--deep")
    #expect(last.status == 0, "\(last.errors)")
    let digest = try await homes.studio.deepDigest()
    #expect(try await homes.laptop.deepDigest() == digest)
    try await eventually("the follower has everything") {
      try await follower.sampleCount() == homes.studio.sampleCount() ? true : nil
    }
    #expect(try await follower.deepDigest() == digest)
    following.send(SIGINT)
    #expect(try await following.outcome().status == 0)
    for host in [homes.studio, homes.laptop, follower] { try await host.expectIntegrity("shared") }
  }

  @Test("a file that may only be read, in a folder that may only be read: as any other, and left as it was")
  func readOnly() async throws {
    let folder = scratch.path + "/read-only"
    let path = folder + "/Exportieren.zip"
    let small = try await SampleExport.small.path
    let prepared = try await scratch.host("sh").sh(
      "mkdir '\(folder)' && cp '\(small)' '\(path)' && chmod 400 '\(path)' && chmod 500 '\(folder)'")
    try #require(prepared.status == 0, "\(prepared.errors)")
    let host = scratch.host("home")
    if getuid() == 0 {
      // To root all files are writable, but not on a file system that is not.
      let mounted = try await host.sh("mount --bind -o ro '\(folder)' '\(folder)'")
      try #require(mounted.status == 0, "\(mounted.errors)")
    }
    let outcome = try await host.run("import", path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(!outcome.lastLine.hasPrefix("0 samples added"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["Exportieren.zip"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(contentsOf: URL(fileURLWithPath: small)))
    if getuid() == 0 { #expect(try await host.sh("umount -l '\(folder)'").status == 0) }
    #expect(try await host.sh("chmod 700 '\(folder)'").status == 0)
  }

  /// A later export is recognized even if it is printed differently.
  @Test(
    "a later export that only looks different adds nothing but the day that was not over",
    arguments: [MadeExport.Change.offset, .units, .reordered])
  func falseNews(_ change: MadeExport.Change) async throws {
    let (first, later) = (scratch.path + "/first.zip", scratch.path + "/later.zip")
    _ = try MadeExport(records: 5_000).write(to: first)
    _ = try MadeExport(records: 5_000, changes: [change]).write(to: later)
    let host = scratch.host("home")
    #expect(try await host.run("import", first).status == 0)
    let before = try await host.contents()
    let outcome = try await host.run("import", later, "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try outcome.json()["added"] as? Int == 1)
    let after = try await host.contents()
    #expect(after.count == before.count)
    #expect(after.filter { before[$0.key] != $0.value }.map(\.key.type) == [.activitySummary])
  }
}
