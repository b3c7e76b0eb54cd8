import Foundation
import Testing

/// Tests of the scenarios in docs/how-to/backup.md, between homes on loopback.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct MovingTests {
  private static let key = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
  private static let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"

  private func backUp(_ host: Host) async throws -> String {
    let path = host.scratch.path + "/backup.age"
    try Data("\(Self.key)\n".utf8).write(to: URL(filePath: host.scratch.path + "/key"))
    let made = try await host.run("backup", "--recipient", Self.recipient, path)
    try #require(made.status == 0, "\(made.errors)")
    return path
  }

  private func restore(_ path: String, to host: Host, _ options: String...) async throws -> Outcome {
    let outcome = try await host.start(
      ["restore", "--identity-file", host.scratch.path + "/key"] + options + [path]
    ).outcome()
    try #require(outcome.status == 0, "\(outcome.errors)")
    return outcome
  }

  private func serve(_ host: Host, _ options: String...) async throws -> (RunningCommand, address: String) {
    let (server, port) = try await host.serve(PairedHomes.serveArguments + options)
    return (server, "127.0.0.1:\(port)")
  }

  private func pair(_ client: Host, with server: Host, at address: String) async throws {
    let (code, _) = try await server.openWindow()
    let paired = try await client.run("pair", "--host", address, "--code-stdin", input: code)
    try #require(paired.status == 0, "\(paired.errors)")
  }

  private func end(_ server: RunningCommand) async throws {
    server.send(SIGTERM)
    #expect(try await server.outcome().status == 0)
  }

  @Test("a new machine that takes the place of the old one: nobody has to pair again")
  func move() async throws {
    let homes = try await PairedHomes(export: .small)
    let backup = try await backUp(homes.studio)
    let new = homes.scratch.host("new")
    let restored = try await restore(backup, to: new, "--yes")
    #expect(restored.errors.contains(#/may know: run `hpeer serve` there/#))
    #expect(restored.errors.contains("the one that was backed up must not run any more"))
    // Also said while nothing runs there.
    let status = try await new.run("status")
    #expect(status.status == 3)
    #expect(status.output.contains(#/Locked since .*\n.* may know what was deleted since/#), "\(status.output)")
    let waitsFor = try await new.run("status", "--json").json()["waitsFor"] as? [String]
    #expect(waitsFor?.count == 1)
    #expect(try await new.run("identity").output == homes.studio.run("identity").output)

    // The laptop may know what was deleted since, and cannot be asked: its owner decides.
    let (waiting, first) = try await serve(new)
    #expect(waiting.errors.contains("paired machines get no answer yet"))
    #expect(try await homes.laptop.run("pull", "--host", first).status == 14)
    try await end(waiting)
    let (server, address) = try await serve(new, "--now")
    #expect(try await !new.run("status").output.contains("Locked"))
    let pulled = try await homes.laptop.run("pull", "--verify", "--host", address)
    #expect(pulled.status == 0, "\(pulled.errors)")
    try await end(server)
    #expect(try await new.run("audit").output.contains("backup.restored"))
  }

  @Test("what was deleted after the backup is deleted again, before anybody is answered")
  func deletions() async throws {
    let homes = try await PairedHomes(export: .small)
    let (studio, laptop) = (homes.studio, homes.laptop)
    // Both pull from each other.
    let (studioServer, studioAddress) = try await serve(studio)
    #expect(try await laptop.run("pull", "--host", studioAddress).status == 0)
    let (laptopServer, laptopAddress) = try await serve(laptop)
    try await pair(studio, with: laptop, at: laptopAddress)
    #expect(try await studio.run("pull", "--host", laptopAddress).status == 0)
    let backup = try await backUp(studio)
    let deletion = ["delete", "--type", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await studio.start(deletion).outcome().status == 0)
    #expect(try await laptop.run("pull", "--host", studioAddress).status == 0)
    try await end(studioServer)

    // The disk of the studio dies.
    let new = homes.scratch.host("new")
    _ = try await restore(backup, to: new, "--yes")
    #expect(try await new.run("types").output.contains("stepCount"))
    let (server, address) = try await serve(new)
    #expect(try await laptop.run("pull", "--host", address).status == 14)
    let asked = try await new.run("pull", "--host", laptopAddress)
    #expect(asked.status == 0, "\(asked.errors)")
    #expect(asked.errors.contains("paired machines are answered from now on"))
    #expect(try await !new.run("types").output.contains("stepCount"))
    let pulled = try await laptop.run("pull", "--verify", "--host", address)
    #expect(pulled.status == 0, "\(pulled.errors)")
    #expect(try await new.run("digest").output == laptop.run("digest").output)
    for server in [server, laptopServer] { try await end(server) }
  }

  @Test("two machines that use one identity are noticed by both sides, and named")
  func twins() async throws {
    let homes = try await PairedHomes(export: .small)
    let backup = try await backUp(homes.studio)
    let new = homes.scratch.host("new")
    // It is not true that the other one is off.
    _ = try await restore(backup, to: new, "--yes")
    let (studio, port) = try await homes.serve()
    let (server, address) = try await serve(new, "--now")
    let former = "127.0.0.1:\(port)"
    for host in [former, former, address] {
      let pulled = try await homes.laptop.run("pull", "--host", host)
      #expect(pulled.status == 0 && !pulled.errors.contains("two machines"), "\(pulled.errors)")
    }
    let noticed = try await homes.laptop.run("pull", "--host", former)
    #expect(noticed.errors.contains("two machines answer as studio, with one identity"), "\(noticed.errors)")
    #expect(try await homes.laptop.run("audit").output.contains(#/peer\.twins .*peer=studio/#))
    // Said once a day.
    #expect(try await !homes.laptop.run("pull", "--host", address).errors.contains("two machines"))

    // The same of clients: a copy of the laptop's home.
    let copy = homes.scratch.host("copy")
    try FileManager.default.copyItem(atPath: homes.laptop.home, toPath: copy.home)
    for host in [homes.laptop, copy, homes.laptop] { #expect(try await host.run("pull", "--host", former).status == 0) }
    #expect(try await homes.studio.run("audit").output.contains(#/peer\.twins .*role=client/#))
    for server in [studio, server] { try await end(server) }
  }

  @Test("two machines that both go on: the record alone, and an identity of its own")
  func twoMachines() async throws {
    let homes = try await PairedHomes(export: .small)
    let backup = try await backUp(homes.studio)
    let new = homes.scratch.host("new")
    let restored = try await restore(backup, to: new, "--new-identity")
    #expect(restored.errors.contains("its own identity"))
    #expect(try await new.run("identity").output != homes.studio.run("identity").output)
    #expect(try await new.run("digest").output == homes.studio.run("digest").output)
    let (studio, studioAddress) = try await homes.serve()
    let (server, address) = try await serve(new)
    // The old one is known as before, the new one by nobody.
    #expect(try await homes.laptop.run("pull", "--host", "127.0.0.1:\(studioAddress)").status == 0)
    try await pair(homes.laptop, with: new, at: address)
    #expect(try await homes.laptop.run("pull", "--host", address).status == 0)
    for server in [studio, server] { try await end(server) }
  }

  @Test("a dead machine without a backup: those that had its record give it back")
  func fromPeers() async throws {
    let homes = try await PairedHomes(export: .small, deleting: "bodyMass")
    let (server, port) = try await homes.serve()
    #expect(try await homes.laptop.run("pull", "--host", "127.0.0.1:\(port)").status == 0)
    try await end(server)
    let (laptop, address) = try await serve(homes.laptop)
    let (code, _) = try await homes.laptop.openWindow()
    let new = homes.scratch.host("new")
    let nobody = try await new.run("restore", "--from-peers")
    #expect(nobody.status == 2 && nobody.errors.contains("not paired with any other"))
    let restored = try await new.run("restore", "--from-peers", "--host", address, "--code-stdin", input: code)
    #expect(restored.status == 0, "\(restored.errors)")
    // A deletion is given back, too, where the sample was never here.
    #expect(restored.output.contains(#/gave back [\d,]+ samples and [1-9][\d,]* deletions?\./#), "\(restored.output)")
    let again = try await new.run("restore", "--from-peers")
    #expect(again.status == 0 && again.output.contains("gave back 0 samples and 0 deletions"), "\(again.output)")
    #expect(try await new.run("digest").output == homes.studio.run("digest").output)
    try await end(laptop)
  }
}
