import Foundation
import Testing

/// Tests that links in a home don't help an attacker who can put files into it, or who gave it away.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LinkTests {
  private let scratch: Scratch
  private let home: Host

  init() throws {
    scratch = try Scratch()
    home = scratch.host("home")
  }

  /// A file that hpeer opens in its home, and a command that opens it.
  struct Name: Sendable, CustomTestStringConvertible {
    var name: String
    var command: [String]
    /// A file that must be absent for the file to be created.
    var without: String?

    var testDescription: String { name }
  }

  private static let serve = ["serve", "--port", "0", "--no-advertise", "--bind", "127.0.0.1"]

  static let names: [Name] = [
    Name(name: "store.sqlite", command: ["types"]), Name(name: "store.sqlite", command: ["audit"]),
    Name(name: "store.sqlite-wal", command: ["types"]), Name(name: "store.sqlite-shm", command: ["types"]),
    Name(name: "store.sqlite-journal", command: ["types"]), Name(name: "store.lock", command: ["types"]),
    Name(name: "replace.lock", command: ["types"]),
    Name(name: "import.lock", command: ["import", "--undo", "--dry-run"]),
    Name(name: "peers.sqlite", command: ["peers"]), Name(name: "peers.sqlite-wal", command: ["peers"]),
    Name(name: "peers.sqlite-shm", command: ["peers"]), Name(name: "peers.sqlite-journal", command: ["peers"]),
    Name(name: ".peers.lock", command: ["peers"]), Name(name: "identity", command: ["identity"]),
    Name(name: "identity/key.pem", command: ["identity"]),
    Name(name: "identity/certificate.pem", command: ["identity"]),
    Name(name: "identity/id", command: ["identity"]),
    Name(name: ".identity.lock", command: ["identity"], without: "identity"),
    Name(name: "pairing.json", command: serve), Name(name: "serve.lock", command: serve),
  ]

  private func prepare() async throws {
    try await home.hold(.small)
    #expect(try await home.run("identity").status == 0)
    // Which has a registry made.
    for command in ["lock", "unlock"] { #expect(try await home.run(command).status == 0) }
  }

  @Test(
    "a link that leads nowhere makes nothing there, and what one leads to is neither used nor changed", arguments: names
  )
  func links(_ name: Name) async throws {
    try await prepare()
    let (path, target) = (home.home + "/" + name.name, scratch.path + "/target")
    #expect(try await home.sh("rm -rf '\(path)'; ln -s '\(target)' '\(path)'").status == 0)
    if let without = name.without { #expect(try await home.sh("rm -r '\(home.home)/\(without)'").status == 0) }
    let dangling = try await home.start(name.command).outcome()
    #expect(dangling.status != 0)
    #expect(dangling.errors.contains("symbolic link"), "\(dangling.errors)")
    #expect(dangling.errors.split(separator: "\n").count == 1, "\(dangling.errors)")
    #expect(try await home.sh("test -e '\(target)' || test -L '\(target)'").status != 0)

    let precious = try await home.sh(
      "printf precious > '\(target)' && chmod 600 '\(target)' && stat -c '%y %s %a' '\(target)'")
    let followed = try await home.start(name.command).outcome()
    #expect(followed.status != 0)
    #expect(followed.errors.contains("symbolic link"), "\(followed.errors)")
    #expect(try await home.sh("stat -c '%y %s %a' '\(target)'").output == precious.output)
    #expect(try await home.sh("cat '\(target)'").output == "precious")
  }

  @Test(
    "not even the very file, elsewhere", arguments: names.filter { !$0.name.contains("-") && !$0.name.contains("lock") }
  )
  func moved(_ name: Name) async throws {
    try await prepare()
    let (path, target) = (home.home + "/" + name.name, scratch.path + "/target")
    if name.name == "pairing.json" { #expect(try await home.sh("echo '{}' > '\(path)'").status == 0) }
    #expect(try await home.sh("mv '\(path)' '\(target)' && ln -s '\(target)' '\(path)'").status == 0)
    let outcome = try await home.start(name.command).outcome()
    #expect(outcome.status != 0)
    #expect(outcome.errors.contains("symbolic link"), "\(outcome.errors)")
  }

  @Test("a directory that a crash may have left is made anew, and not what a link leads to")
  func leftOvers() async throws {
    let target = scratch.path + "/target"
    let links =
      "mkdir -m 700 '\(home.home)' '\(target)' && touch '\(target)/key.pem' '\(target)/id' && "
      + "ln -s '\(target)' '\(home.home)/identity.new' && ln -s '\(target)/new' '\(home.home)/control.sock'"
    #expect(try await home.sh(links).status == 0)
    #expect(try await home.run("identity").status == 0)
    let (server, _) = try await home.serve(Array(Self.serve.dropFirst()))
    server.send(SIGINT)
    #expect(try await server.outcome().status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target).sorted() == ["id", "key.pem"])
  }

  @Test("a home may be reached through links, and is called by its own name")
  func reached() async throws {
    try await prepare()
    let (link, disk) = (scratch.path + "/link", scratch.path + "/disk")
    #expect(
      try await home.sh("mkdir -m 755 '\(disk)' && mv '\(home.home)' '\(disk)/home' && ln -s '\(disk)' '\(link)'")
        .status == 0)
    let linked = Host(home: link + "/home", scratch: scratch)
    #expect(try await linked.run("types").status == 0)
    #expect(try await linked.sh("chmod 644 '\(disk)/home/store.sqlite'").status == 0)
    let refused = try await linked.run("types")
    #expect(refused.errors.contains("\(disk)/home/store.sqlite is open to other users"), "\(refused.errors)")
  }

  @Test(
    "a home, or what leads there, that others may write to is not used",
    arguments: [["types"], ["identity"], ["peers"], serve])
  func writable(_ command: [String]) async throws {
    try await prepare()
    for (path, mode) in [(home.home, "770"), (home.home, "707"), (scratch.path, "777")] {
      #expect(try await home.sh("chmod \(mode) '\(path)'").status == 0)
      let refused = try await home.start(command).outcome()
      #expect(refused.status == 1)
      #expect(refused.errors.contains("others may write to \(path)"), "\(refused.errors)")
      #expect(refused.errors.contains("chmod go-w \(path)"), "\(refused.errors)")
      #expect(try await home.sh("chmod 700 '\(path)'").status == 0)
    }
    // As /tmp.
    #expect(try await home.sh("chmod 1777 '\(scratch.path)'").status == 0)
    #expect(try await home.run("types").status == 0)
  }

  @Test("a store that others can read is not used, and the command that mends it does")
  func open() async throws {
    try await prepare()
    for suffix in ["", "-wal"] {
      let path = home.home + "/store.sqlite" + suffix
      #expect(try await home.sh("touch '\(path)' && chmod 640 '\(path)'").status == 0)
      let before = try await home.sh("ls -A '\(home.home)'").output
      for command in [["types"], ["import", try await SampleExport.small.path], Self.serve] {
        let refused = try await home.start(command).outcome()
        #expect(refused.status == 1)
        #expect(refused.errors.contains("run: chmod 600 \(path)"), "\(refused.errors)")
        #expect(try await home.sh("ls -A '\(home.home)'").output == before, "it was not even opened")
      }
      #expect(try await home.sh("chmod 600 '\(path)'").status == 0)
    }
    #expect(try await home.run("types").status == 0)
  }
}
