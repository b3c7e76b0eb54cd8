import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import PeerClient
import PeerProtocol
import Testing

@testable import PeerServer
@testable import PeerTrust

@Suite("Requests that wait for changes", .timeLimit(.minutes(5)))
struct WaitingTests {
  /// Returns the number of changes in an answer, and the token that follows them.
  private static func read(_ answer: Answer) throws -> (changes: Int, token: String) {
    #expect(answer.status == 200, "\(answer.text)")
    let lines = try answer.lines()
    guard case .token(let token, let more)? = lines.last else { throw NeverHappened() }
    #expect(!more)
    return (lines.count - 1, token)
  }

  private static func path(_ since: String, wait: String, _ rest: String = "") -> String {
    "\(Route.changes)?since=\(since)&wait=\(wait)\(rest)"
  }

  /// Waits until `count` connections have a waiting request.
  private static func untilFollowed(_ server: TestServer, _ count: Int = 1) async throws {
    _ = try await eventually(within: .seconds(120)) {
      try await server.audited(.followStarted).count == count ? true : nil
    }
  }

  @Test("it is answered when something happens, and at once when something has happened already")
  func answers() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(3))) { server in
      let token = try await server.token().token
      let first = try Self.read(try await server.get(Route.changes + "?wait=50", token: token))
      #expect(first.changes == 3)
      async let waiting = server.get(Self.path(first.token, wait: "50"), token: token)
      try await Self.untilFollowed(server)
      try await server.store.apply(ChangeBatch(additions: [Samples.quantity()]))
      #expect(try Self.read(try await waiting).changes == 1)
    }
  }

  @Test("another process's change is as good")
  func otherProcess() async throws {
    try await withServer { server in
      let token = try await server.token().token
      async let waiting = server.get(Self.path("", wait: "50"), token: token)
      try await Self.untilFollowed(server)
      let other = try HealthStore(directory: server.directory.path)
      try await other.apply(ChangeBatch(additions: [Samples.quantity()]))
      #expect(try Self.read(try await waiting).changes == 1)
    }
  }

  @Test("when the time is over the answer has a token alone; it is not a read, and waiting is on record once")
  func timeOver() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(3))) { server in
      let token = try await server.token().token
      let first = try Self.read(try await server.get(Route.changes, token: token))
      let since = NIOLockedValueBox(first.token)
      try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
        for _ in 0..<3 {
          let head = try await connection.send(
            .GET, Self.path(since.withLockedValue(\.self), wait: "1"),
            headers: [("Authorization", "Bearer \(token.text)"), ("Accept", ChangeFeedFormat.lines.rawValue)])
          let answer = Answer(status: Int(head.status.code), headers: head.headers, body: try await connection.body())
          let (changes, next) = try Self.read(answer)
          #expect(changes == 0)
          since.withLockedValue { $0 = next }
        }
      }
      #expect(try await server.audited(.followStarted).count == 1)
      #expect(try await server.audited(.dataRead).count == 1, "only what was asked for without waiting")
    }
  }

  @Test("what the caller may not see does not end its wait, and what it may see is not lost behind it")
  func scope() async throws {
    try await withServer { server in
      let scope = SampleFilter(types: [Samples.heartRate])
      let token = try await server.token(scope: scope).token
      async let waiting = server.get(Self.path("", wait: "50"), token: token)
      try await Self.untilFollowed(server)
      for _ in 0..<5 {
        try await server.store.apply(ChangeBatch(additions: [Samples.quantity(Samples.stepCount, 1, "count")]))
        try await Task.sleep(for: .milliseconds(60))
      }
      try await server.store.apply(ChangeBatch(additions: [Samples.quantity()]))
      let (changes, next) = try Self.read(try await waiting)
      #expect(changes == 1)
      // A wait in which only others' changes happened lasts its whole time.
      let start = ContinuousClock.now
      async let inVain = server.get(Self.path(next, wait: "1"), token: token)
      try await server.store.apply(ChangeBatch(additions: [Samples.quantity(Samples.stepCount, 1, "count")]))
      #expect(try Self.read(try await inVain).changes == 0)
      #expect(start.duration(to: .now) >= .seconds(1))
    }
  }

  @Test("the number of seconds is whole, and from 1 to 50", arguments: ["0", "51", "-1", "1.5", "", "ten", "1e1"])
  func badTime(text: String) async throws {
    try await withServer { server in
      let token = try await server.token().token
      let answer = try await server.get(Self.path("", wait: text), token: token)
      #expect(answer.status == 400)
      #expect(try answer.failure() == "'wait' is not a whole number from 1 to 50")
    }
  }

  @Test("HEAD does not wait, and a token that is gone is gone at once")
  func noWait() async throws {
    try await withServer { server in
      let token = try await server.token().token
      #expect(try await server.request(.HEAD, Self.path("", wait: "50"), token: token).status == 200)
      let foreign = ChangeTokenSeal(key: Data(repeating: 7, count: 32)).text(
        of: ChangeToken(change: 0, epoch: 0, filter: 0))
      #expect(try await server.get(Self.path(foreign, wait: "50"), token: token).status == 410)
      #expect(try await server.audited(.followStarted).isEmpty)
    }
  }

  @Test("a token that is revoked meanwhile ends the wait with 401, and a scope that is changed with 410")
  func revoked() async throws {
    var options = ServerOptions(samples: Samples.heartRates(3))
    options.serving.waitRecheck = .milliseconds(200)
    try await withServer(options) { server in
      let (id, token) = try await server.token()
      let since = try Self.read(try await server.get(Route.changes, token: token)).token
      async let narrowed = server.get(Self.path(since, wait: "50"), token: token)
      try await Self.untilFollowed(server)
      try await server.registry.setScope(SampleFilter(types: [Samples.stepCount]), ofClient: id)
      #expect(try await narrowed.status == 410)

      async let revoked = server.get(Self.path("", wait: "50"), token: token)
      try await Self.untilFollowed(server, 2)
      try await server.registry.revoke(id: id)
      #expect(try await revoked.status == 401)
    }
  }

  @Test("a machine that is locked meanwhile ends the wait with 423 within a second")
  func locked() async throws {
    #expect(ServingLimits().waitRecheck < .seconds(1) && ServingLimits().rightRecheck < .seconds(1))
    try await withServer(ServerOptions(samples: Samples.heartRates(3))) { server in
      let token = try await server.token().token
      let since = try Self.read(try await server.get(Route.changes, token: token)).token
      async let waiting = server.get(Self.path(since, wait: "50"), token: token)
      try await Self.untilFollowed(server)
      #expect(try await server.registry.lock())
      #expect(try await waiting.status == 423)
    }
  }

  @Test("data that comes after the token was revoked is not sent, however soon")
  func revokedThenChanged() async throws {
    var options = ServerOptions()
    options.serving.waitRecheck = .seconds(3600)
    try await withServer(options) { server in
      let (id, token) = try await server.token()
      async let waiting = server.get(Self.path("", wait: "50"), token: token)
      try await Self.untilFollowed(server)
      try await server.registry.revoke(id: id)
      try await server.store.apply(ChangeBatch(additions: [Samples.quantity()]))
      #expect(try await waiting.status == 401)
      #expect(try await server.audited(.dataRead).isEmpty)
    }
  }

  @Test("hundreds that wait hold up nobody, and all are answered")
  func many() async throws {
    let count = 200
    var options = ServerOptions(samples: Samples.heartRates(10))
    options.serving.waitsPerClient = count
    options.serving.connectionsPerClient = 2 * count
    options.serving.wait = .seconds(600)
    try await withServer(options) { server in
      let token = try await server.token().token
      let since = try Self.read(try await server.get(Route.changes, token: token)).token
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<count {
          group.addTask { try Self.read(try await server.get(Self.path(since, wait: "600"), token: token)).changes }
        }
        try await Self.untilFollowed(server, count)
        // There are as many places for work as cores: waiting takes none.
        #expect(try Self.read(try await server.get(Route.changes, token: token)).changes == 10)
        try await server.store.apply(ChangeBatch(additions: [Samples.quantity(Samples.stepCount, 1, "count")]))
        for try await changes in group { #expect(changes == 1) }
      }
    }
  }

  @Test("more than one client may have waiting are told to come back")
  func tooMany() async throws {
    var options = ServerOptions()
    options.serving.waitsPerClient = 1
    try await withServer(options) { server in
      let token = try await server.token().token
      async let waiting = server.get(Self.path("", wait: "50"), token: token)
      try await Self.untilFollowed(server)
      let refused = try await server.get(Self.path("", wait: "50"), token: token)
      #expect(refused.status == 503)
      #expect(refused.headers.first(name: "Retry-After") == "30")
      try await server.store.apply(ChangeBatch(additions: [Samples.quantity()]))
      #expect(try Self.read(try await waiting).changes == 1)
      let next = try await server.get(Self.path("", wait: "50"), token: token)
      #expect(next.status == 200)
    }
  }

  @Test("where there are few descriptors, fewer wait")
  func fewDescriptors() async throws {
    var options = ServerOptions()
    // No process has as many descriptors, and half of the paired may wait.
    options.serving.connections = 1 << 30
    options.serving.pairedConnections = 2
    try await withServer(options) { server in
      let token = try await server.token().token
      async let waiting = server.get(Self.path("", wait: "50"), token: token)
      try await Self.untilFollowed(server)
      #expect(try await server.get(Self.path("", wait: "1"), token: token).status == 503)
      try await server.store.apply(ChangeBatch(additions: [Samples.quantity()]))
      #expect(try Self.read(try await waiting).changes == 1)
    }
  }

  @Test("a server that is stopped answers those that wait, and ends at once")
  func shutdown() async throws {
    var options = ServerOptions()
    // A request that goes on waiting would keep the server for so long.
    options.gracefulLimit = .seconds(45)
    let answer = NIOLockedValueBox<Task<Answer, any Error>?>(nil)
    let start = NIOLockedValueBox(ContinuousClock.now)
    try await withServer(options) { server in
      let token = try await server.token().token
      answer.withLockedValue {
        $0 = Task { try await server.get(Self.path("", wait: "50"), token: token) }
      }
      try await Self.untilFollowed(server)
      start.withLockedValue { $0 = .now }
    }
    #expect(start.withLockedValue { $0.duration(to: .now) } < .seconds(40))
    let waiting = answer.withLockedValue { $0 }
    let task = try #require(waiting)
    #expect(try Self.read(try await task.value).changes == 0)
  }
}
