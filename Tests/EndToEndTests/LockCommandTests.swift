import Foundation
import Testing

/// Tests of `hpeer lock` and `unlock` with a running server, between two homes on loopback.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LockCommandTests {
  @Test("a locked machine answers nobody, also after the server has started again, until it is unlocked")
  func locking() async throws {
    let homes = try await PairedHomes(export: .small)
    let (studio, laptop) = (homes.studio, homes.laptop)
    var (server, port) = try await homes.serve()
    #expect(try await laptop.start(["pull", "--host", "127.0.0.1:\(port)"]).outcome().status == 0)

    #expect(try await studio.run("lock").errors.contains("Locked: paired machines get no answer"))
    #expect(try await studio.run("lock").errors.contains("locked already"))
    let refused = try await laptop.start(["pull", "--host", "127.0.0.1:\(port)"]).outcome()
    #expect(refused.status == 14, "\(refused.errors)")
    #expect(refused.errors.contains("studio is locked: its owner unlocks it there with `hpeer unlock`"))
    #expect(try await laptop.start(["verify", "--host", "127.0.0.1:\(port)"]).outcome().status == 14)
    #expect(try await studio.run("status").output.contains("Locked since "))
    #expect(try await studio.run("status", "--json").json()["locked"] is String)
    // What is done on the machine itself goes on.
    #expect(try await studio.run("types").status == 0)

    server.send(SIGTERM)
    _ = try await server.outcome()
    (server, port) = try await homes.serve()
    #expect(try await laptop.start(["pull", "--host", "127.0.0.1:\(port)"]).outcome().status == 14)
    #expect(try await studio.run("unlock").errors.contains("Unlocked"))
    #expect(try await studio.run("unlock").errors.contains("It is not locked"))
    #expect(try await laptop.start(["pull", "--host", "127.0.0.1:\(port)"]).outcome().status == 0)
    let log = try await studio.run("audit").output
    #expect(log.contains("server.locked") && log.contains("server.unlocked"))
    #expect(log.contains(#/token\.refused .*reason=locked/#))
  }

  @Test("served locked, it pairs and answers nobody, also when it is served again without that; locking ends following")
  func servedLocked() async throws {
    let homes = try await PairedHomes(export: .small)
    let (studio, laptop) = (homes.studio, homes.laptop)
    var (server, port) = try await studio.serve(PairedHomes.serveArguments + ["--locked"])
    try await server.errors(matching: #/this machine is locked: paired machines get no answer until `hpeer unlock`/#)
    #expect(try await laptop.run("pull", "--host", "127.0.0.1:\(port)").status == 14)
    #expect(try await laptop.sampleCount() == 0)
    // Pairing goes on, and what is done on the machine itself.
    let another = homes.scratch.host("another")
    let (code, _) = try await studio.openWindow()
    #expect(try await another.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    #expect(try await another.run("pull", "--host", "127.0.0.1:\(port)").status == 14)
    #expect(try await studio.run("digest").status == 0)
    let status = try await studio.run("status", "--json").json()
    #expect(status["locked"] is String)
    server.send(SIGTERM)
    #expect(try await server.outcome().status == 0)

    // Nobody has unlocked it meanwhile.
    (server, port) = try await studio.serve(PairedHomes.serveArguments)
    try await server.errors(matching: #/this machine is locked/#)
    #expect(try await laptop.run("pull", "--host", "127.0.0.1:\(port)").status == 14)
    #expect(try await studio.run("unlock").status == 0)
    let following = try laptop.start(["pull", "--watch", "--host", "127.0.0.1:\(port)"])
    try await following.errors(matching: #/up to date; waiting/#)
    #expect(try await studio.run("lock").status == 0)
    // It waits for a change for half a minute, which the lock does not.
    let locked = ContinuousClock.now
    try await following.errors(matching: #/it is locked/#)
    #expect(ContinuousClock.now - locked < .seconds(15))
    #expect(try await studio.run("unlock").status == 0)
    try await following.errors(matching: #/studio: back/#)
    following.send(SIGTERM)
    _ = try await following.outcome()
    let events = try await studio.run("audit").output.components(separatedBy: "\n")
    #expect(events.count { $0.contains("server.locked") } == 2, "\(events)")
    #expect(events.count { $0.contains("server.unlocked") } == 2, "\(events)")
  }
}
