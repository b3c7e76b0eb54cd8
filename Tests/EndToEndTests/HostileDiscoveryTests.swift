import Foundation
import Testing

/// Tests with a machine on the network that announces everything that mDNS can carry, and some of what it can't.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
struct HostileDiscoveryTests {
  private typealias Announcement = HostileHost.Announcement

  /// Names, records and packets that tend to break programs.
  private static var nastyAnnouncements: [Announcement] {
    let texts = [
      HostileText.name, "\u{1B}[2J", "👨‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿", "../../etc/passwd", "--all", "$(reboot)", "a\u{0}b", "\u{202E}oiduts", " ",
      "%s%n", "a.b\\c",
      String(repeating: "x", count: 63), "e" + String(repeating: "\u{301}", count: 25),
    ]
    var all = texts.map { Announcement.service($0, port: 9, txt: ["id=\($0)", "pair=1", "\u{1B}=\u{7}"]) }
    all += [[0xFF, 0xFE, 0x41], [0xC3], [0xED, 0xA0, 0x80], [0x9B, 0x32, 0x4A]].map {
      Announcement(name: .bytes($0), port: 9, txt: [.bytes([0x69, 0x64, 0x3D, 0xFF])])
    }
    all.append(
      Announcement(
        name: .text("big"), port: 9, txt: (0..<32).map { .bytes([UInt8($0)] + [UInt8](repeating: 0x61, count: 250)) }))
    all.append(Announcement(name: .text(String(repeating: "long", count: 18)), port: 9))
    all.append(.service("no port", port: 0))
    all.append(Announcement(name: .text("nothing behind it")))
    // A header that promises what does not follow, a name that points at itself, and nothing at all.
    all += ["000084000000ffff00000000", "000084000000000100000000c00c000c0001000000780002c00c", "00"].map {
      Announcement(raw: $0)
    }
    return all
  }

  @Test("a thousand services from one host, and worse: the list stays usable, and the real server is found among them")
  func flood() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    let liar = try await HostileHost(beside: hosts)
    // Addresses that mean the victim itself, or nobody.
    let forbidden = ["127.0.0.1", "0.0.0.0", "224.0.0.251", "255.255.255.255"]
    let nowhere = forbidden.enumerated().flatMap { index, address in
      [
        Announcement(host: "nowhere\(index)", addresses: [address]),
        .service("nowhere \(index)", port: 22, host: "nowhere\(index)"),
      ]
    }
    let fakes = (0..<1000).map {
      Announcement.service("fake \($0)", port: 4000 + $0, txt: ["id=\(Self.id($0))", "pair=1"])
    }
    try await liar.announce(nowhere + Self.nastyAnnouncements + fakes)

    // How many of a thousand avahi-daemon looks up in a second depends on the machine, and on what else it does: where
    // too little was found, the next look takes longer.
    var seconds = 8
    let list = try await eventually("studio is listed, and the flood counted", within: .seconds(300)) {
      defer { seconds = min(2 * seconds, 60) }
      let command = try hosts.laptop.start(["discover", "--json", "--timeout", "\(seconds)"])
      let memory = try await Self.peakMemory(of: command)
      let outcome = try await command.outcome()
      outcome.expectPlain("discover --json")
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(memory < 300 << 20)
      let list = try JSONDecoder().decode(Listing.self, from: Data(outcome.output.utf8))
      return list.peers.contains { $0.name == "studio" } && list.more[HostileHost.address, default: 0] > 100
        ? list : nil
    }
    let addresses = list.peers.flatMap(\.addresses).map(\.address)
    #expect(addresses.count { $0 == HostileHost.address } <= 16)
    #expect(!addresses.contains { forbidden.contains($0) })

    // On a busy machine its avahi-daemon may be silent for longer than one command listens.
    try await eventually("it says how many are not listed", within: .seconds(180)) {
      let text = try await hosts.laptop.run("discover")
      text.expectPlain("discover")
      return text.errors.contains("more, which are not listed") ? true : nil
    }
    // Silent again: then nobody is found.
    try await eventually("a terminal shows some of them", within: .seconds(180)) {
      let terminal = try PseudoTerminal(
        hosts.laptop.prefix + ["env", "HPEER_HOME=\(hosts.laptop.home)", Build.hpeer, "discover"])
      let status = try await terminal.exitStatus()
      #expect(HostileText.leaks(in: terminal.text) == [], "\(terminal.text.debugDescription)")
      #expect(status == 0 || status == 3)
      return status == 0 ? true : nil
    }
    let some = try await eventually("several are found", within: .seconds(180)) {
      let outcome = try await hosts.laptop.run("pull")
      return outcome.status == 3 ? nil : outcome
    }
    #expect(some.status == 2)
    some.expectPlain("pull")
    #expect(some.errors.utf8.count < 1000)
    let first = try await eventually("studio is found among them", within: .seconds(180)) {
      let outcome = try await hosts.pairAndPull()
      return outcome.status == 3 ? nil : outcome
    }
    #expect(first.status == 0, "\(first.errors)")
    #expect(try await hosts.laptop.run("pull").status == 0)
    #expect(try await hosts.studio.contents() == hosts.laptop.contents())
  }

  @Test("what is not an hpeer is told apart, and is sent no code and no token")
  func strangers() async throws {
    let hosts = try await TwoHosts()
    let liar = try await HostileHost(beside: hosts)
    let evil = #""\#(HostileText.name.unicodeScalars.map { String(format: "\\u%04x", $0.value) }.joined())""#
    // What the app HealthAppTransfer answers; its announcement has no TXT record, like that of the other app.
    let app = #"{"success":true,"data":{"status":"running","version":"1.0","deviceName":\#(evil),"availableTypes":3}}"#
    let other =
      #"{"success":true,"data":{"status":"x","version":"1","deviceName":"x","availableTypes":3,"protocol":\#(evil)}}"#
    let posing =
      #"{"success":true,"data":{"status":"x","version":"1","deviceName":\#(evil),"availableTypes":3,"protocol":"hpeer/1"}}"#
    let failure = #"{"success":false,"error":\#(evil)}"#
    let listeners = [
      try await liar.listen("ssh", port: 2201), try await liar.listen("http", port: 2202),
      try await liar.listen("tls", port: 2203, answers: ["GET /status": (200, app)]),
      try await liar.listen("tls", port: 2204, answers: ["GET /status": (200, other)]),
      try await liar.listen(
        "tls", port: 2205, answers: ["GET /status": (200, posing), "GET /pair/v1/hello": (500, failure)]),
      try await liar.listen("tls", port: 2206),
    ]
    let names = ["ssh", "http", "HealthSync-iOS", "other", "posing", "empty", "closed"]
    try await liar.announce(names.enumerated().map { .service($1, port: 2201 + $0) })
    let laptop = hosts.laptop
    try await eventually("they are listed") {
      try await laptop.run("discover", "--json").output.contains("\"closed\"") ? true : nil
    }
    try await withThrowingTaskGroup(of: (String, Outcome).self) { group in
      for name in names {
        group.addTask { (name, try await laptop.run("pull", name, "--code-stdin", input: "482913\n")) }
      }
      for try await (name, outcome) in group {
        outcome.expectPlain("pull \(name)")
        // An app is paired with otherwise.
        let expected: Int32 = name == "posing" ? 1 : name == "HealthSync-iOS" ? 4 : 3
        #expect(outcome.status == expected, "\(name): \(outcome.errors)")
        #expect(outcome.errors.contains("hpeer:"))
        if name == "HealthSync-iOS" { #expect(outcome.errors.contains("HealthAppTransfer")) }
      }
    }
    for listener in listeners {
      #expect(!listener.output.contains("482913") && !listener.output.contains("Authorization"))
    }
    #expect(try await laptop.run("peers", "--json").output.contains(#""servers":[]"#))
  }

  @Test("who announces a paired machine's name and id does not keep it from being found, and is sent nothing")
  func impostor() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    let (server, _) = try await hosts.studio.serve(["--name", "studio"])
    #expect(try await hosts.pairAndPull().status == 0)
    let peers = try await hosts.laptop.run("peers", "--json").json()
    let id = try #require(((peers["servers"] as? [[String: Any]])?.first)?["id"] as? String)
    server.send(SIGTERM)
    _ = try await server.outcome()

    // It takes the old address and the name, the id under other names, and has some of them hang.
    let liar = try await HostileHost(beside: hosts)
    let posing = try await liar.listen("tls", port: 8737, address: "0.0.0.0")
    let hanging = try await liar.listen("hang", port: 2207)
    let lies = (0..<12).map {
      Announcement.service("studio \($0)", port: $0 % 2 == 0 ? 8737 : 2207, txt: ["v=1", "id=\(id)"])
    }
    let announcing = try await liar.announce([.service("studio", port: 8737, txt: ["v=1", "id=\(id)"])] + lies)
    let alone = try await hosts.laptop.run("pull")
    #expect(alone.status == 8, "\(alone.errors)")
    #expect(alone.errors.contains("posing"))

    let (real, _) = try await hosts.studio.serve(["--name", "studio", "--port", "8800"])
    let found = try await hosts.laptop.run("pull")
    #expect(found.status == 0, "\(found.errors)")
    #expect(try await hosts.laptop.run("peers").output.contains(":8800"))
    #expect(posing.output.contains("connected"))
    for listener in [posing, hanging] {
      // A TLS handshake with the one, the beginning of one with the other, and not a byte of a request.
      #expect(!listener.output.contains("HTTP") && !listener.output.contains("Bearer"))
    }
    for command in [announcing, posing, hanging, real] { command.send(SIGTERM) }
  }

  private static func id(_ number: Int) -> String { String(format: "%032x", number) }

  private struct Listing: Decodable {
    struct Peer: Decodable {
      struct Address: Decodable { var address: String }
      var name: String
      var addresses: [Address]
    }
    var peers: [Peer]
    var more: [String: Int]
  }

  /// Returns the peak memory of a process in bytes, for as long as it can be observed.
  private static func peakMemory(of command: RunningCommand) async throws -> Int {
    var peak = 0
    while let status = try? String(contentsOfFile: "/proc/\(command.pid)/status", encoding: .utf8),
      let match = status.firstMatch(of: #/VmHWM:\s*(\d+) kB/#)
    {
      peak = max(peak, (Int(match.1) ?? 0) << 10)
      try await Task.sleep(for: .milliseconds(200))
    }
    return peak
  }
}
