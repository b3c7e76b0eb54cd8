import Foundation
import TestSupport
import Testing

/// Tests of the built binary under a service manager that expects notifications.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ServiceNotificationTests {
  @Test("run: ready when it listens, alive, reading again, ending; what it starts is told nothing of it")
  func run() async throws {
    let scratch = try Scratch()
    let host = scratch.host("studio")
    try await host.hold(.small)
    let (seen, settings) = (scratch.path + "/environment", host.home + "/config.toml")
    let section = """
      [destination.look]
      kind = "command"
      command = ["/bin/sh", "-c", "cat > /dev/null; env > '\(seen).new'; mv '\(seen).new' '\(seen)'"]

      """
    try Data(section.utf8).write(to: URL(filePath: settings))
    let socket = try NotifySocket(scratch.path + "/notify")
    let run = try host.start(
      ["run", "--port", "0", "--no-advertise", "--bind", "127.0.0.1"],
      environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "2000000"])
    let ready = try #require(await socket.first("READY=1"))
    let port = try await run.errors(matching: #/on port (\d+)/#).1
    #expect(ready.last == "STATUS=Serving, following, delivering, automating, on port \(port)")
    for _ in 0..<3 { #expect(await socket.first("WATCHDOG=1") != nil) }
    run.send(SIGHUP)
    let reloading = try #require(await socket.first("RELOADING=1"))
    #expect(reloading.last?.hasPrefix("MONOTONIC_USEC=") == true)
    #expect(await socket.first("READY=1") == ready)
    let environment = try await eventually("the program has run") { try? String(contentsOfFile: seen, encoding: .utf8) }
    #expect(environment.contains("PATH="))
    #expect(!environment.contains("NOTIFY_SOCKET") && !environment.contains("WATCHDOG"))
    run.send(SIGTERM)
    #expect(await socket.first("STOPPING=1") != nil)
    #expect(try await run.outcome().status == 0)
  }

  @Test("serve: by an abstract address, and no word of being watched where it is not")
  func serve() async throws {
    let scratch = try Scratch()
    let host = scratch.host("studio")
    let socket = try NotifySocket("@hpeer-e2e-\(UUID().uuidString)")
    let (server, port) = try await host.serve(
      PairedHomes.serveArguments, environment: ["NOTIFY_SOCKET": socket.name])
    var messages = socket.messages.makeAsyncIterator()
    #expect(await messages.next() == ["READY=1", "STATUS=Serving on port \(port)"])
    server.send(SIGTERM)
    #expect(await messages.next() == ["STOPPING=1"])
    #expect(try await server.outcome().status == 0)
  }
}
