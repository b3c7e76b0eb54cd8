import Foundation
import TestSupport
import Testing

/// Tests of `hpeer inbox` and its server, with curl in place of an app.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct InboxCommandTests {
  private static let serving = ["--port", "0", "--inbox-port", "0", "--no-advertise", "--bind", "127.0.0.1"]
  private static let body = """
    {"data":{"metrics":[{"name":"step_count","units":"count","data":[\
    {"qty":8432,"date":"2024-06-15 00:00:00 +0200","source":"Watch"},\
    {"qty":9120,"date":"2024-06-16 00:00:00 +0200","source":"Watch"}]}]}}
    """

  private func add(_ home: Host, _ arguments: [String]) async throws -> (url: String, header: String) {
    let outcome = try await home.start(["inbox", "add"] + arguments).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    let match = try #require(outcome.output.firstMatch(of: #/URL +(\S+)\nHeader +(\S.*)\n/#), "\(outcome.output)")
    return (String(match.1), String(match.2))
  }

  private func serve(_ home: Host, _ arguments: [String]) async throws -> (RunningCommand, port: Int) {
    let server = try home.start(arguments + Self.serving)
    let match = try await server.errors(matching: #/Inbox open on port (\d+)/#)
    return (server, try #require(Int(match.1)))
  }

  /// Posts the body with curl and returns the response's status.
  private func post(
    _ home: Host, _ port: Int, _ header: String, scheme: String = "https", trusting authority: String? = nil
  ) async throws -> String {
    let file = home.scratch.path + "/body.json"
    try Data(Self.body.utf8).write(to: URL(fileURLWithPath: file))
    let trust = authority ?? home.home + "/inbox/authority.pem"
    let outcome = try await home.sh(
      """
      curl -s --noproxy '*' --max-time 60 --cacert '\(trust)' -H '\(header)' --data-binary '@\(file)' \
        -o '\(file).answer' -w '%{http_code}' \(scheme)://localhost:\(port)/inbox/phone
      """)
    return outcome.output
  }

  @Test("an app is added, sends over TLS, is known after a crash, sees the lock, and is removed")
  func whole() async throws {
    let home = try Scratch().host("home")
    let (url, header) = try await add(home, ["phone", "--host", "localhost"])
    #expect(url == "https://localhost:8738/inbox/phone")
    #expect(header.wholeMatch(of: #/Authorization: Bearer [A-Za-z0-9_-]{43}/#) != nil)
    var (server, port) = try await serve(home, ["serve", "--inbox"])
    #expect(try await post(home, port, header) == "200")
    let count = try await home.sampleCount()
    #expect(count == 2)
    // Whoever trusts only the system's authorities does not speak to it.
    #expect(try await post(home, port, header, trusting: "/etc/ssl/certs/ca-certificates.crt") == "000")
    server.send(SIGKILL)
    _ = try await server.outcome()
    (server, port) = try await serve(home, ["serve", "--inbox"])
    #expect(try await post(home, port, header) == "200")
    #expect(try await home.sampleCount() == count)
    #expect(try await home.run("lock").status == 0)
    #expect(try await post(home, port, header) == "423")
    #expect(try await home.run("unlock").status == 0)
    // Refused by its own lock, it does not fail.
    let status = try await home.run("status", "--json")
    #expect(status.status == 0, "\(status.output)")
    let schema = try JSONSchema(directory: Build.root + "/docs/reference/schemas")
    #expect(try schema.violations(of: status.output.split(separator: "\n")[0], against: "status.json") == [])
    let inbox = try #require(try status.json()["inbox"] as? [String: Any])
    let standing = try #require((inbox["senders"] as? [[String: Any]])?.first)
    #expect(standing["state"] as? String == "fine" && standing["lastReceived"] is String)
    #expect((standing["refused"] as? [String: Any])?["reason"] as? String == "locked")
    #expect((inbox["certificate"] as? [String: Any])?["isOver"] as? Bool == false)
    #expect(try await home.run("status").output.contains(#/phone +fine +20\d\d-\S+ \S+ +1 \(locked\), last /#))
    let listed = try await home.run("inbox", "list", "--json").json()
    let sender = try #require((listed["senders"] as? [[String: Any]])?.first)
    #expect(sender["lastSeen"] is String && sender["state"] as? String == "active")
    #expect(try await home.run("inbox").output.contains("phone"))
    #expect(try await home.run("inbox", "remove", "phone").status == 0)
    #expect(try await home.run("inbox", "remove", "phone").status == 4)
    #expect(try await post(home, port, header) == "401")
    let log = try await home.run("audit").output
    #expect(log.contains("inbox.changed") && log.contains("inbox.received") && log.contains("inbox.refused"))
    #expect(!log.contains(header.suffix(43)))
    server.send(SIGTERM)
    #expect(try await server.outcome().status == 0)
  }

  @Test("a certificate that cannot be read, and a body that is refused, are said by status, which ends with 5")
  func failing() async throws {
    let home = try Scratch().host("home")
    let (_, header) = try await add(home, ["phone", "--types", "heartRate", "--host", "localhost"])
    let (server, port) = try await serve(home, ["serve", "--inbox"])
    // Steps, which it may not send.
    #expect(try await post(home, port, header) == "403")
    let refused = try await home.run("status")
    #expect(refused.status == 5)
    #expect(refused.output.contains(#/phone +failing +never +1 \(scope\), last /#), "\(refused.output)")
    #expect(refused.output.contains("Data from phone is refused (scope)"), "\(refused.output)")
    // A new secret, and nothing was refused since.
    _ = try await add(home, ["phone", "--host", "localhost"])
    #expect(try await home.run("status").status == 0)

    let path = home.scratch.path + "/none.pem"
    let settings = "[serve]\ninbox-cert = \"\(path)\"\ninbox-key = \"\(path)\"\n"
    try Data(settings.utf8).write(to: URL(fileURLWithPath: home.home + "/config.toml"))
    let unreadable = try await home.run("status")
    #expect(unreadable.status == 5)
    #expect(unreadable.output.contains("The certificate of the inbox cannot be used"), "\(unreadable.output)")
    server.send(SIGTERM)
    #expect(try await server.outcome().status == 0)
  }

  @Test("where a record is, somebody has to say whose phone it is")
  func person() async throws {
    let home = try Scratch().host("home")
    try await home.hold(.small)
    let refused = try await home.run("inbox", "add", "phone")
    #expect(refused.status == 13 && refused.output.isEmpty, "\(refused.errors)")
    #expect(try await home.run("inbox", "list", "--json").output.contains("[]"))
    let terminal = try PseudoTerminal(["HPEER_HOME=\(home.home)", Build.hpeer, "inbox", "add", "phone"])
    try await terminal.text(matching: #/person\s+whose\s+record\s+is\s+on\s+this\s+machine\?/#)
    terminal.type("y\n")
    try await terminal.text(matching: #/Authorization: Bearer/#)
    _ = try await add(home, ["scale", "--merge-person", "--types", "bodyMass"])
    let names = try await home.run("inbox", "list", "--json").output
    #expect(names.contains("HKQuantityTypeIdentifierBodyMass"))
    #expect(try await home.run("inbox", "add", "No Name").status == 2)
  }

  @Test("the address to type has the port that the settings say, and none that there is not")
  func settingsOfPort() async throws {
    let home = try Scratch().host("home")
    _ = try await home.run("config", "init")
    func write(_ port: String) throws {
      try Data("[serve]\ninbox-port = \(port)\n".utf8).write(to: URL(fileURLWithPath: home.home + "/config.toml"))
    }
    try write("\"8799\"")
    #expect(try await add(home, ["phone", "--host", "localhost"]).url == "https://localhost:8799/inbox/phone")
    for port in ["70000", "-1", "\"many\""] {
      try write(port)
      let outcome = try await home.run("inbox", "add", "other")
      #expect(outcome.status == 2, "\(outcome.errors)")
      #expect(outcome.errors.contains("config.toml:2: serve.inbox-port: takes a number"), "\(outcome.errors)")
    }
  }

  @Test("behind a proxy it takes HTTP, from this machine; settings say it once")
  func plain() async throws {
    let home = try Scratch().host("home")
    _ = try await home.run("config", "init")
    try Data("[serve]\ninbox = true\ninbox-http = true\ninbox-port = 8799\n".utf8)
      .write(to: URL(fileURLWithPath: home.home + "/config.toml"))
    let (url, header) = try await add(home, ["phone", "--host", "localhost"])
    #expect(url == "http://localhost:8799/inbox/phone")
    let (server, port) = try await serve(home, ["run", "--no-follow", "--no-deliver", "--no-automate"])
    #expect(try await post(home, port, header, scheme: "http") == "200")
    #expect(try await home.sampleCount() == 2)
    server.send(SIGTERM)
    #expect(try await server.outcome().status == 0)
    let both = try await home.start(["serve", "--inbox", "--inbox-http", "--inbox-insecure-http"]).outcome()
    #expect(both.status == 2)
    #expect(try await home.run("serve", "--inbox", "--inbox-cert", "a.pem").status == 2)
  }

  @Test("an offer that is ended by a signal says that in one sentence", arguments: [SIGINT, SIGTERM])
  func endedOffer(signal: Int32) async throws {
    let home = try Scratch().host("home")
    let offering = try home.start(["inbox", "profile", "--bind", "127.0.0.1"])
    _ = try await offering.errors(matching: #/Ctrl-C: stop\n/#)
    offering.send(signal)
    let outcome = try await offering.outcome()
    #expect(outcome.status == 130)
    let said = outcome.errors.split(separator: "Ctrl-C: stop\n").last
    #expect(said == "hpeer: Interrupted; the profile is not offered any more.\n", "\(outcome.errors)")
    #expect(try await home.run("inbox", "list").status == 0)
  }

  @Test("a phone fetches the profile once")
  func profile() async throws {
    let home = try Scratch().host("home")
    let offering = try home.start(["inbox", "profile", "--bind", "127.0.0.1"])
    let url = try await offering.errors(matching: #/http:\/\/127\.0\.0\.1:\d+\/[A-Za-z0-9_-]{22}\/hpeer\.mobileconfig/#)
    let wrong = try await home.sh("curl -s --noproxy '*' -o /dev/null -w '%{http_code}' '\(url.dropLast(5))'")
    #expect(wrong.output == "404")
    let fetched = try await home.sh("curl -s --noproxy '*' -w '%{content_type}' '\(url)'")
    #expect(fetched.output.contains("com.apple.security.root"))
    #expect(fetched.output.hasSuffix("application/x-apple-aspen-config"))
    #expect(try await offering.outcome().status == 0)
    let file = home.scratch.path + "/hpeer.mobileconfig"
    #expect(try await home.run("inbox", "profile", "--output", file).status == 0)
    #expect(fetched.output.hasPrefix(try String(contentsOfFile: file, encoding: .utf8)))
    // What is there is not written over.
    #expect(try await home.run("inbox", "profile", "--output", file).status == 1)
  }
}
