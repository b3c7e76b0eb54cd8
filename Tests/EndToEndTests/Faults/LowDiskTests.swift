import Foundation
import Testing

/// Tests of a disk that is nearly full: hpeer stops while there is still space for what matters.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: getuid() == 0, "mounting needs root"))
struct LowDiskTests {
  @Test("an import stops with code 5 before the disk is full, and the same command finishes when there is room")
  func importing() async throws {
    let export = try await SampleExport.small.path
    try await onDisk(ofMegabytes: 128) { host, _ in try await importing(export, host) }
  }

  @Test("without a free byte, what only looks answers as before")
  func looking() async throws {
    try await onDisk(ofMegabytes: 64) { host, scratch in try await looking(host, scratch) }
  }

  @Test("without a free byte, it is locked, backed up and exported from, as long as the audit log has room")
  func copying() async throws {
    try await onDisk(ofMegabytes: 64) { host, scratch in try await copying(host, scratch) }
  }

  /// Runs `body` with a host whose home is on its own disk.
  private func onDisk(ofMegabytes size: Int, _ body: (Host, Scratch) async throws -> Void) async throws {
    let scratch = try Scratch()
    let host = scratch.host("home")
    let mounted = try await host.sh(
      "mkdir -m 700 '\(host.home)' && mount -t tmpfs -o size=\(size)m,mode=0700 tmpfs '\(host.home)'")
    try #require(mounted.status == 0, "\(mounted.errors)")
    let result: Result<Void, any Error>
    do { result = .success(try await body(host, scratch)) } catch { result = .failure(error) }
    #expect(try await host.sh("umount -l '\(host.home)'").status == 0)
    try result.get()
  }

  /// Copies the small record to a host.
  private func hold(_ host: Host, _ scratch: Scratch) async throws {
    let template = scratch.host("template")
    try await template.hold(.small)
    let copied = try await host.sh("cp -a '\(template.home)'/store.sqlite* '\(host.home)'")
    try #require(copied.status == 0, "\(copied.errors)")
  }

  private func fill(_ host: Host) async throws {
    let filled = try await host.sh("cat /dev/zero >> '\(host.home)/filler'; stat -f -c %a '\(host.home)'")
    #expect(filled.lastLine == "0", "\(filled.output)")
  }

  private func copying(_ host: Host, _ scratch: Scratch) async throws {
    try await hold(host, scratch)
    for command in ["lock", "unlock"] { #expect(try await host.run(command).status == 0) }
    try await fill(host)
    let locked = try await host.run("lock")
    #expect(locked.status == 0 && locked.errors.hasPrefix("Locked"), "\(locked.errors)")
    #expect(try await host.run("unlock").status == 0)
    let backup = scratch.path + "/record.tar.zst"
    let backedUp = try await host.start(
      ["backup", "--unencrypted", backup], environment: ["TMPDIR": scratch.path]
    ).outcome()
    #expect(backedUp.status == 0, "\(backedUp.errors)")
    #expect(try await host.run("backup", "verify", backup).status == 0)

    // Whatever is given back, somebody else takes.
    var exports = 0
    var refused: Outcome?
    while refused == nil, exports < 20 {
      try await fill(host)
      let outcome = try await host.run("export", "--format", "csv", "--output", scratch.path + "/\(exports).csv")
      if outcome.status == 0 { exports += 1 } else { refused = outcome }
    }
    #expect((3..<10).contains(exports))
    #expect(refused?.status == 1 && refused?.errors.contains("is full") == true, "\(refused?.errors ?? "")")
    #expect(!FileManager.default.fileExists(atPath: scratch.path + "/\(exports).csv"))
    let log = try await host.run("audit", "--json").output
    #expect(log.components(separatedBy: "\"export\"").count - 1 == exports)
    #expect(log.components(separatedBy: "\"server.locked\"").count - 1 == 2)
    // Whoever reads that much can still be locked out.
    let last = try await host.run("lock")
    #expect(last.status == 0 && last.errors.hasPrefix("Locked"), "\(last.errors)")
  }

  private func looking(_ host: Host, _ scratch: Scratch) async throws {
    try await hold(host, scratch)
    let commands = [
      ["types"], ["show", "heartRate", "--limit", "3"], ["stats", "stepCount", "--by", "month"], ["coverage"],
      ["audit"],
      ["inbox", "list"], ["peers"], ["workouts"], ["sleep"], ["digest"],
    ]
    var answers: [String] = []
    for command in commands { answers.append(try await host.start(command).outcome().output) }
    try await fill(host)
    for (command, answer) in zip(commands, answers) {
      let outcome = try await host.start(command).outcome()
      #expect(outcome.status == 0, "\(command): \(outcome.errors)")
      #expect(outcome.output == answer, "\(command)")
    }
  }

  private func importing(_ export: String, _ host: Host) async throws {
    // A twentieth of this disk is to stay free: 6.4 MB.
    let filler = host.home + "/filler"
    let filled = try await host.sh(
      "fallocate -l $(( $(stat -f -c '%a * %S' '\(host.home)') - 5000000 )) '\(filler)'")
    try #require(filled.status == 0, "\(filled.errors)")
    let stopped = try await host.run("import", export)
    #expect(stopped.status == 1, "\(stopped.errors)")
    #expect(stopped.errors.contains("make room") && stopped.errors.split(separator: "\n").count == 1)
    #expect(try await host.sampleCount() == 0)
    try FileManager.default.removeItem(atPath: filler)
    #expect(try await host.run("import", export).status == 0)
    #expect(try await host.sampleCount() > 0)
  }
}
