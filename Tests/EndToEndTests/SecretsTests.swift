import Foundation
import PeerTrust
import Testing

private let isRoot = geteuid() == 0

/// Tests that codes, tokens and keys are only where they must be.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SecretsTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  @Test("a crash prints nothing of the memory", arguments: [SIGILL, SIGTRAP, SIGSEGV, SIGABRT])
  func crash(signal: Int32) async throws {
    let host = scratch.host("studio")
    let server = try host.start(
      ["serve", "--port", "0", "--no-advertise"], environment: ["SWIFT_BACKTRACE": "enable=yes,color=no"])
    try await server.errors(matching: #/on port/#)
    server.send(signal)
    let outcome = try await server.outcome()
    #expect(outcome.status == 128 + signal)
    #expect(!outcome.errors.contains(#/[Cc]rash|[Bb]acktrace|0x/#) && outcome.output.isEmpty, "\(outcome.errors)")
  }

  @Test("no code, token or key in arguments, environments, messages, logs, or files that are not theirs")
  func everywhere() async throws {
    let attic = scratch.host("attic")
    let laptop = scratch.host("laptop")
    try await attic.hold(.small)
    let (server, port) = try await attic.serve(["--port", "0", "--no-advertise"])
    // A wrong code first: what is said about it must not repeat it, nor tell the next.
    let (first, waiting) = try await attic.openWindow()
    let wrong = first == "000 000" ? "000 001" : "000 000"
    let failed = try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: wrong)
    #expect(failed.status == 6)
    let match = try await waiting.errors(matching: #/(?s)new one.*Code: (\d{3} \d{3})/#)
    let code = String(match.1)
    let paired = try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code)
    #expect(paired.status == 0, "\(paired.errors)")
    let pulled = try await laptop.run("pull", "--host", "127.0.0.1:\(port)")
    #expect(pulled.status == 0)

    let token = try await #require(
      PeerRegistry.open(in: URL(fileURLWithPath: laptop.home)).servers().first?.credential.text)
    let keys = try [attic, laptop].map { host in
      // The first line of the body: enough to know the key by.
      try #require(
        String(contentsOfFile: host.home + "/identity/key.pem", encoding: .utf8).split(separator: "\n").dropFirst()
          .first)
    }
    var secrets = [code, code.filter { $0 != " " }, token] + keys.map(String.init)
    // While the server is still there to be looked at.
    for (process, text) in Self.processes(of: scratch.path) {
      for secret in secrets { #expect(!text.contains(secret), "in \(process)") }
    }
    server.send(SIGTERM)
    let served = try await server.outcome()
    let audits = try await [attic.run("audit").output, laptop.run("audit", "--json").output]
    secrets.append(wrong.filter { $0 != " " })
    let said = [failed, paired, pulled, served].flatMap { [$0.output, $0.errors] } + audits
    for text in said { for secret in secrets { #expect(!text.contains(secret)) } }

    let bytes = try #require(Data(base64Encoded: Self.base64(token)))
    for host in [attic, laptop] {
      let files = try #require(FileManager.default.enumerator(atPath: host.home)).compactMap { $0 as? String }
      for name in files where !name.hasPrefix("identity/") {
        guard let data = FileManager.default.contents(atPath: host.home + "/" + name) else { continue }
        let isItsPlace = host.home == laptop.home && name.hasPrefix("peers.sqlite")
        #expect(data.range(of: bytes) == nil, "\(name)")
        if !isItsPlace { #expect(data.range(of: Data(token.utf8)) == nil, "\(name)") }
        for key in keys { #expect(data.range(of: Data(key.utf8)) == nil, "\(name)") }
      }
    }
  }

  /// Returns the arguments and environment of every process that has the path in either. Other processes are skipped,
  /// because six digits may occur in them by chance.
  private static func processes(of path: String) -> [(String, String)] {
    let ids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.filter { Int($0) != nil } ?? []
    return ids.flatMap { id in
      let texts = ["cmdline", "environ"].compactMap { file in
        FileManager.default.contents(atPath: "/proc/\(id)/\(file)").map {
          ("/proc/\(id)/\(file)", String(decoding: $0, as: UTF8.self))
        }
      }
      return texts.contains { $0.1.contains(path) } ? texts : []
    }
  }

  private static func base64(_ text: String) -> String {
    text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + "="
  }

  @Test("a crash leaves no core, whatever the limit was")
  func core() async throws {
    let attic = scratch.host("attic")
    let started = try RunningCommand([
      "bash", "-c",
      "cd '\(scratch.path)' && ulimit -c unlimited && exec env HPEER_HOME='\(attic.home)' SWIFT_BACKTRACE=enable=no '\(Build.hpeer)' serve --port 0 --no-advertise",
    ])
    scratch.keep(started)
    _ = try await started.errors(matching: #/on port (\d+)/#)
    let limits = try String(contentsOfFile: "/proc/\(started.pid)/limits", encoding: .utf8)
    #expect(limits.contains(#/Max core file size +0 +0/#))
    started.send(SIGSEGV)
    #expect(try await started.outcome().status == 128 + SIGSEGV)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).allSatisfy { !$0.hasPrefix("core") })
  }

  @Test("another process of the same user cannot read the server's memory", .enabled(if: isRoot, "needs root"))
  func memory() async throws {
    let home = scratch.path + "/other"
    let user = "setpriv --reuid 65534 --clear-groups"
    #expect(
      try await scratch.host("attic").sh("mkdir '\(home)' && chown 65534 '\(home)' && chmod 711 '\(scratch.path)'")
        .status == 0)
    let started = try RunningCommand([
      "bash", "-c", "exec env HPEER_HOME='\(home)' \(user) '\(Build.hpeer)' serve --port 0 --no-advertise",
    ])
    scratch.keep(started)
    _ = try await started.errors(matching: #/on port (\d+)/#)
    let attempt = try await RunningCommand([
      "bash", "-c", "\(user) head -c 1 /proc/\(started.pid)/environ; \(user) head -c 1 /proc/\(started.pid)/mem",
    ]).outcome()
    #expect(attempt.status != 0)
    #expect(attempt.errors.split(separator: "\n").filter { $0.contains("Permission denied") }.count == 2)
    #expect(attempt.output.isEmpty)
  }

  @Test("a key or a list of tokens that others can read is not used", arguments: ["identity/key.pem", "peers.sqlite"])
  func permissions(_ name: String) async throws {
    let attic = scratch.host("attic")
    #expect(try await attic.run("identity").status == 0)
    // Which has a registry made.
    for command in ["lock", "unlock"] { #expect(try await attic.run(command).status == 0) }
    let path = attic.home + "/" + name
    for mode in [0o640, 0o604] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      let refused = try await attic.run("serve", "--port", "0", "--no-advertise")
      #expect(refused.status == 1)
      #expect(refused.errors.contains("run: chmod 600 \(path)"), "\(refused.errors)")
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    _ = try await attic.serve(["--port", "0", "--no-advertise"])
  }
}
