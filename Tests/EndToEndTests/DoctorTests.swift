import Foundation
import Testing

/// Tests of `hpeer doctor` on hosts with a single fault.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
struct DoctorTests {
  /// A report with its findings: ID, severity, text and remedy.
  private struct Report: Decodable {
    struct Finding: Decodable {
      var id: String
      var severity: String
      var text: String
      var remedy: String?
    }
    var ok: Bool
    var findings: [Finding]

    subscript(id: String) -> Finding? { findings.first { $0.id == id } }
    var blocking: [String] { findings.filter { $0.severity == "blocking" }.map(\.id) }
  }

  private func report(_ host: Host, _ arguments: String...) async throws -> Report {
    let outcome = try await host.start(["doctor", "--json"] + arguments).outcome()
    let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    #expect(outcome.status == (report.ok ? 0 : 1))
    #expect(report.ok == report.blocking.isEmpty)
    return report
  }

  @Test("healthy hosts: nothing stands in the way, and each hears the other")
  func healthy() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    #expect(try await hosts.pairAndPull().status == 0)
    let studio = try await report(hosts.studio, "--check-store")
    #expect(studio.blocking == [])
    for id in ["dbus.ok", "avahi.ok", "port.served", "store.sound", "identity.ok", "permissions.ok"] {
      #expect(studio[id] != nil, "no \(id): \(studio.findings)")
    }
    let laptop = try await report(hosts.laptop)
    #expect(laptop.blocking == [])
    for id in ["multicast.heard", "port.free", "store.ok", "peers.ok", "peer.ok"] {
      #expect(laptop[id] != nil, "no \(id): \(laptop.findings)")
    }
  }

  @Test("one machine by its name, step by step: there, not accepting this one any more, and off")
  func namedMachine() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    let (server, _) = try await hosts.studio.serve(["--name", "studio"])
    #expect(try await hosts.pairAndPull().status == 0)
    let there = try await report(hosts.laptop, "studio")
    #expect(there.blocking == [])
    let steps = ["announced", "reached", "certificate", "token", "clock", "says"]
    for id in steps + ["seen", "scope", "ends", "apart"].map({ "otherEnd.\($0)" }) {
      #expect(there["peer.\(id)"] != nil, "no peer.\(id): \(there.findings)")
    }
    #expect(there["peer.token"]?.severity == "ok")
    #expect(there["peer.otherEnd.seen"]?.text.contains("sees this machine at ") == true)
    #expect(there["peer.otherEnd.scope"]?.text.hasSuffix("read everything") == true, "\(there.findings)")
    #expect(try await hosts.studio.run("audit").output.contains("pairing.read"))
    // It reads here, and is not pulled from.
    let client = try #require(
      try await hosts.studio.run("peers").output.split(separator: "\n").dropFirst().first?.split(separator: " ").first)
    let unknown = try await hosts.studio.run("doctor", String(client))
    #expect(unknown.status == 4 && unknown.errors.contains("does not pull from it"), "\(unknown.errors)")
    #expect(try await hosts.laptop.run("doctor", "nobody").status == 4)
    _ = try await hosts.studio.run("revoke", String(client))
    #expect(try await report(hosts.laptop, "studio").blocking == ["peer.refused"])
    server.send(SIGTERM)
    _ = try await server.outcome()
    let off = try await hosts.laptop.run("doctor")
    #expect(off.status == 0)
    #expect(off.errors.contains("; not reached: studio (`hpeer doctor NAME` looks closer)."), "\(off.errors)")
    #expect(try await report(hosts.laptop, "studio").blocking == ["peer.unreachable"])
  }

  @Test("both pull from each other: the other end says whether it reaches this one")
  func wayBack() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    #expect(try await hosts.pairAndPull().status == 0)
    let (laptop, _) = try await hosts.laptop.serve(["--name", "laptop"])
    let (code, _) = try await hosts.laptop.openWindow()
    let back = try await hosts.studio.run("pull", "laptop", "--code-stdin", "--merge-person", input: code + "\n")
    #expect(back.status == 0, "\(back.errors)")
    let reached = try await eventually("studio reaches the laptop") {
      try await report(hosts.laptop, "studio")["peer.otherEnd.reaches"]
    }
    #expect(reached.text.contains("8737"), "\(reached.text)")
    laptop.send(SIGTERM)
    _ = try await laptop.outcome()
    // The last outcome is told for some seconds.
    let away = try await eventually("studio does not reach the laptop") {
      let report = try await report(hosts.laptop, "studio")
      return report.ok ? report["peer.otherEnd.unreached"] : nil
    }
    #expect(away.severity == "warning" && away.remedy?.contains("hpeer serve") == true)
  }

  @Test("for a person: one line each, the remedy below, a summary, no colour in a pipe")
  func text() async throws {
    let hosts = try await TwoHosts()
    try await hosts.control("avahi", "studio", "stop")
    let outcome = try await hosts.studio.run("doctor", environment: ["LC_ALL": "C.UTF-8"])
    #expect(outcome.status == 1)
    #expect(!outcome.errors.contains("hpeer:"), "\(outcome.errors)")
    #expect(outcome.output.contains("\n✗ avahi-daemon is not running"))
    #expect(outcome.output.contains("\n  → "))
    #expect(!outcome.output.contains("\u{1B}"))
    #expect(outcome.errors.contains("1 thing stands in the way"))
    let plain = try await hosts.studio.run("doctor", environment: ["LC_ALL": "C"])
    #expect(plain.output.contains("\nFAIL avahi-daemon is not running"))
    #expect(plain.output.allSatisfy { $0.isASCII })
  }

  @Test("nothing is made in a home that is not there, nor in one on a read-only disk")
  func noTraces() async throws {
    let hosts = try await TwoHosts()
    _ = try await report(hosts.studio)
    #expect(!FileManager.default.fileExists(atPath: hosts.studio.home))
    let home = hosts.scratch.path + "/readonly"
    let script = """
      mkdir -p '\(home)' && mount -t tmpfs -o mode=700 none '\(home)' && \
      HPEER_HOME='\(home)' '\(Build.hpeer)' import '\(try await SampleExport.small.path)' >&2 && \
      mount -o remount,ro '\(home)' && HPEER_HOME='\(home)' '\(Build.hpeer)' doctor --json --check-store; \
      ls -A '\(home)' >&2
      """
    let outcome = try await RunningCommand(
      hosts.studio.prefix + ["unshare", "--mount", "bash", "-c", script]
    ).outcome()
    let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
    #expect(report.blocking == ["disk.readonly"], "\(report.findings)")
    #expect(report["store.sound"] != nil, "\(report.findings)")
  }

  @Test("avahi-daemon stopped, then D-Bus too")
  func daemons() async throws {
    let hosts = try await TwoHosts()
    try await hosts.control("avahi", "laptop", "stop")
    let stopped = try await report(hosts.laptop)
    #expect(stopped.blocking == ["avahi.stopped"])
    #expect(stopped["avahi.stopped"]?.remedy?.contains("avahi-daemon start") == true)
    try await hosts.control("dbus", "laptop", "stop")
    let busless = try await report(hosts.laptop)
    #expect(busless.blocking == ["dbus.absent"])
    #expect(busless["avahi.unknown"]?.severity == "note")
  }

  /// The reason why a packet filter can't be set up in a network namespace here, or nil.
  private static let noPacketFilter: String? = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["unshare", "--net", "/usr/sbin/nft", "add", "table", "inet", "probe"]
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return "\(error)" }
    process.waitUntilExit()
    return process.terminationStatus == 0 ? nil : "nft does not work in a network namespace"
  }()

  @Test(
    "a firewall that drops: said so for each port, and the remedies work as they stand",
    .enabled(if: noPacketFilter == nil, "needs nftables: \(noPacketFilter ?? "")"))
  func firewall() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    let rules = """
      nft add table inet filter
      nft add chain inet filter input '{ type filter hook input priority 0; policy drop; }'
      nft add rule inet filter input iif lo accept
      nft add rule inet filter input ct state established,related accept
      nft add rule inet filter input tcp dport 22 accept
      """
    #expect(try await hosts.studio.sh("PATH=$PATH:/usr/sbin\n\(rules)").status == 0)
    let closed = try await report(hosts.studio)
    #expect(closed.blocking == ["firewall.port", "firewall.mdns"])
    #expect(closed["multicast.deaf"] != nil, "\(closed.findings)")
    for id in closed.blocking {
      let remedy = try #require(closed[id]?.remedy?.firstMatch(of: #/sudo (nft .*?)  /#)?.1)
      #expect(try await hosts.studio.sh("PATH=$PATH:/usr/sbin\n\(remedy)").status == 0, "\(remedy)")
    }
    let opened = try await report(hosts.studio)
    #expect(opened.blocking == [])
    #expect(opened["firewall.open"] != nil)
    #expect(try await report(hosts.laptop)["multicast.heard"] != nil)
  }

  @Test("the port taken by another program, which is named")
  func portTaken() async throws {
    let hosts = try await TwoHosts()
    let squatter = try RunningCommand(
      hosts.studio.prefix + ["python3", "-u", "-m", "http.server", "8737"])
    hosts.scratch.keep(squatter)
    let taken = try await eventually("the port is taken") {
      let report = try await report(hosts.studio)
      return report["port.taken"]
    }
    #expect(taken.severity == "blocking")
    #expect(taken.text.contains("python3"))
    #expect(taken.remedy?.contains("hpeer serve --port 8738") == true)
    #expect(try await report(hosts.studio, "--port", "8738").blocking == [])
  }

  @Test("a store with a corrupted page is found, with and without --check-store, and no byte is changed")
  func corruptedStore() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    let store = hosts.studio.home + "/store.sqlite"
    // Into the file with what the last command left in the log.
    #expect(try await hosts.studio.sh("sqlite3 '\(store)' 'PRAGMA wal_checkpoint(TRUNCATE)'").status == 0)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
    for offset in stride(from: bytes.count / 2 / 4096 * 4096, to: bytes.count / 2 + 8192, by: 5) {
      bytes[offset] ^= 0xA5
    }
    try bytes.write(to: URL(fileURLWithPath: store))
    for damaged in [try await report(hosts.studio), try await report(hosts.studio, "--check-store")] {
      #expect(damaged.blocking.allSatisfy { $0 == "store.damaged" } && !damaged.blocking.isEmpty)
      #expect(damaged["store.damaged"]?.remedy?.contains("nothing was changed") == true)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
  }

  @Test("a key that the group may read: not used, and the chmod that helps")
  func openKey() async throws {
    let hosts = try await TwoHosts()
    let (server, _) = try await hosts.studio.serve(["--name", "studio"])
    server.send(SIGTERM)
    _ = try await server.outcome()
    let key = hosts.studio.home + "/identity/key.pem"
    #expect(try await hosts.studio.sh("chmod 640 '\(key)'").status == 0)
    let open = try await report(hosts.studio)
    #expect(open.blocking == ["identity.open"])
    let remedy = try #require(open["identity.open"]?.remedy)
    #expect(try await hosts.studio.sh(remedy).status == 0)
    #expect(try await report(hosts.studio).blocking == [])
  }
}
