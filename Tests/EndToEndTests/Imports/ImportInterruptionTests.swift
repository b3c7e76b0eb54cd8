import Foundation
import Testing

/// Tests of an import that is interrupted in the middle of a long export, and then repeated.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct ImportInterruptionTests {
  private let scratch: Scratch
  private let export: LongExport

  init() async throws {
    scratch = try Scratch()
    export = try await LongExport.made.value
  }

  /// Starts an import and stops it when it has committed more than there was, but not everything.
  private func inTheMiddle(of path: String, _ host: Host) async throws -> HeldCommand {
    let before = try await host.committedSamples()
    return try await HeldCommand(["import", path], on: host) { try await host.committedSamples() > before }
  }

  @Test("Ctrl-C: code 130, what is committed stays, and the same command finishes")
  func interrupted() async throws {
    let host = scratch.host("home")
    let held = try await inTheMiddle(of: export.zip, host)
    try held.release(with: SIGINT)
    let outcome = try await held.command.outcome(within: .seconds(30))
    #expect(outcome.status == 130, "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count <= 1, "\(outcome.errors)")
    let kept = try await host.sampleCount()
    #expect((1..<export.samples).contains(kept))
    try await host.expectIntegrity("after Ctrl-C")

    let again = try await host.run("import", export.zip, "--json")
    #expect(again.status == 0, "\(again.errors)")
    #expect(try again.json()["added"] as? Int == export.samples - kept)
    try await host.expectUndisturbed(export, "after Ctrl-C and again")
  }

  @Test("killed twice over, once with the zip file and once with its XML alone", arguments: ["zip", "xml"])
  func killed(_ form: String) async throws {
    let path = form == "zip" ? export.zip : export.xml
    let host = scratch.host("home")
    for kill in 1...2 {
      let before = try await host.sampleCount()
      try await inTheMiddle(of: path, host).command.end()
      let kept = try await host.sampleCount()
      #expect((before + 1..<export.samples).contains(kept), "kill \(kill)")
      try await host.expectIntegrity("kill \(kill)")
    }
    let again = try await host.run("import", path)
    #expect(again.status == 0, "\(again.errors)")
    // What one form brought, the other knows; only the zip file has what lies beside the XML.
    let other = try await host.run("import", form == "zip" ? export.xml : export.zip)
    #expect(other.status == 0, "\(other.errors)")
    if form == "zip" {
      #expect(other.lastLine.hasPrefix("0 samples added"), "\(other.output)")
      try await host.expectUndisturbed(export, "after kills and again")
    } else {
      try await host.expectSameSamples(as: export, "after kills and again")
    }
  }

  @Test(
    "a disk that fills up in the middle: one sentence, what was there stays, and the same command finishes with room",
    .enabled(if: getuid() == 0, "mounting needs root"))
  func fullDisk() async throws {
    let host = scratch.host("small")
    #expect(
      try await host.sh("mkdir '\(host.home)' && mount -t tmpfs -o size=12m,mode=700 tmpfs '\(host.home)'").status == 0)
    #expect(try await host.run("import", SampleExport.small.path).status == 0)
    let before = try await host.contents()

    let full = try await host.run("import", export.zip)
    #expect(full.status == 1, "\(full.errors)")
    #expect(full.errors.split(separator: "\n").count == 1, "\(full.errors)")
    #expect(full.errors.contains("full"), "\(full.errors)")
    let kept = try await host.contents()
    #expect(before.allSatisfy { kept[$0.key] == $0.value }, "something that was there is gone")
    #expect(kept.count < before.count + export.samples)

    #expect(try await host.sh("mount -o remount,size=400m '\(host.home)'").status == 0)
    #expect(try await host.run("import", export.zip).status == 0)
    let reference = scratch.host("reference")
    try await reference.hold(.small)
    #expect(try await reference.run("import", export.zip).status == 0)
    #expect(try await host.deepDigest() == reference.deepDigest())
    try await host.expectIntegrity("after a full disk")
    #expect(try await host.sh("umount -l '\(host.home)'").status == 0)
  }

  /// The file may be a download, or a copy over the network, that continues while the file is read.
  @Test("a file that grows while it is read, or shrinks: code 65 and one sentence, and right once it is whole")
  func changingFile() async throws {
    let whole = try Data(contentsOf: URL(fileURLWithPath: export.xml), options: .alwaysMapped)
    for (name, first, second) in [("grows", 4, 5), ("shrinks", 5, 1)] {
      let host = scratch.host(name)
      let path = scratch.path + "/\(name).xml"
      try whole.prefix(whole.count / 5 * first).write(to: URL(fileURLWithPath: path))
      let held = try await inTheMiddle(of: path, host)
      let file = try #require(FileHandle(forWritingAtPath: path))
      if second > first {
        try file.seekToEnd()
        try file.write(contentsOf: whole.dropFirst(whole.count / 5 * first))
      } else {
        try file.truncate(atOffset: UInt64(whole.count / 5 * second))
      }
      try file.close()
      try held.release()
      let outcome = try await held.command.outcome()
      #expect(outcome.status == 65, "\(name): \(outcome.errors)")
      #expect(outcome.errors.contains(#/changed while it was being read|ends in the middle/#), "\(outcome.errors)")
      try await host.expectIntegrity(name)

      try whole.write(to: URL(fileURLWithPath: path))
      let again = try await host.run("import", path)
      #expect(again.status == 0, "\(name): \(again.errors)")
      // What lies beside the XML is in the zip file only.
      #expect(try await host.run("import", export.zip).status == 0)
      try await host.expectSameSamples(as: export, name)
    }
  }
}
