import Foundation
import Testing

/// `hpeer lock` and `unlock` beside a running server, between two homes on loopback.
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
}
