import Foundation
import HealthModel
import Logging
import NIOCore
import NIOPosix
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

extension TestServer {
  var socketPath: String { "\(directory.path)/control.sock" }

  /// Runs a control server beside this server.
  func withControl<Result: Sendable>(
    owner: uid_t = geteuid(), requestTimeout: Duration = .seconds(5), _ body: (String) async throws -> Result
  ) async throws -> Result {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let control = ControlServer(
      path: socketPath, name: { "studio" }, desk: desk, events: events, logger: logger, owner: owner,
      requestTimeout: requestTimeout
    ) { code, expiry in
      try PairingPayload(
        host: "127.0.0.1", port: UInt16(port), fingerprint: identity.fingerprint, code: code, expiry: expiry)
    }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await control.run() }
      defer { group.cancelAll() }
      // The mode is set after the socket is there, and then it is ready.
      _ = try await eventually { mode(of: socketPath) == 0o600 ? true : nil }
      return try await body(socketPath)
    }
  }
}

private func mode(of path: String) -> Int? {
  (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
}

/// The events of an opened window, as they arrive.
private struct Watcher {
  private let task: Task<Void, any Error>
  private var events: AsyncStream<ControlEvent>.AsyncIterator

  init(_ path: String, scope: SampleFilter? = nil) {
    let (stream, continuation) = AsyncStream.makeStream(of: ControlEvent.self)
    events = stream.makeAsyncIterator()
    task = Task {
      defer { continuation.finish() }
      try await ControlClient.openWindow(at: path, scope: scope) { continuation.yield($0) }
    }
  }

  mutating func next() async -> ControlEvent? { await events.next() }

  /// Returns the next event, which must be a code.
  mutating func nextCode(
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> (code: PairingCode, payload: PairingPayload, attemptsLeft: Int?) {
    guard case .code(let digits, let uri, let json, let expiresAt, let left, let name)? = await next() else {
      Issue.record("no code", sourceLocation: sourceLocation)
      throw NeverHappened()
    }
    let code = try #require(PairingCode(digits), sourceLocation: sourceLocation)
    let payload = try PairingPayload.parse(uri)
    #expect(payload.code == code, sourceLocation: sourceLocation)
    let fromJSON = try PairingPayload.parse(json)
    #expect(fromJSON.fingerprint == payload.fingerprint, sourceLocation: sourceLocation)
    #expect(fromJSON.code == code, sourceLocation: sourceLocation)
    #expect(expiresAt.rawValue > Date().timeIntervalSince1970, sourceLocation: sourceLocation)
    #expect(name == "studio", sourceLocation: sourceLocation)
    return (code, payload, left?.rawValue)
  }

  func cancel() async {
    task.cancel()
    _ = await task.result
  }
}

/// Returns a start request by a client that doesn't know the code. The generator of P-256 is as good a share as any.
private func anyStart() throws -> PairStartRequest {
  let generator =
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
  let share = try #require(RadixCoding.hex.decode(generator))
  return try PairStartRequest(clientID: makePeerID(), name: "n", versions: [PairingProtocol.version], pA: share)
}

@Suite("The control socket")
struct ControlTests {
  @Test("only its owner may connect, and it is gone when the server is")
  func socketMode() async throws {
    try await withServer { server in
      try await server.withControl { path in #expect(mode(of: path) == 0o600) }
      #expect(mode(of: server.socketPath) == nil)
    }
  }

  @Test("a window shows its code, a new one after a wrong attempt, and who paired")
  func pairs() async throws {
    try await withServer { server in
      try await server.withControl { path in
        var watcher = Watcher(path)
        let first = try await watcher.nextCode()
        #expect(first.attemptsLeft == nil)
        #expect(first.payload.fingerprint == server.identity.fingerprint)
        #expect(Int(first.payload.port) == server.port)
        #expect(await server.desk.currentCode == first.code)
        #expect(try await server.plainPair(first.code.wrong.digits).status == 401)
        let second = try await watcher.nextCode()
        #expect(second.attemptsLeft == 4)
        #expect(second.code != first.code)
        let session = try await PairingSession.open(at: server.endpoint)
        _ = try await session.pair(code: second.code, clientID: try makePeerID(), name: "laptop")
        #expect(await watcher.next() == .paired(name: "laptop"))
        #expect(await watcher.next() == nil)
      }
    }
  }

  @Test("five wrong codes lock the window, and the socket opens it again")
  func locks() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        var watcher = Watcher(path)
        for attempt in 0..<5 {
          let code = try await watcher.nextCode()
          #expect(code.attemptsLeft == (attempt == 0 ? nil : 5 - attempt))
          #expect(try await server.plainPair(code.code.wrong.digits).status == 401)
        }
        #expect(await watcher.next() == .locked)
        #expect(await watcher.next() == nil)
        var again = Watcher(path)
        let code = try await again.nextCode()
        #expect(try await server.plainPair(code.code.digits).status == 200)
      }
    }
  }

  @Test("a window that expires, is closed or is replaced says so")
  func ends() async throws {
    var limits = PairingCoordinator.Limits()
    limits.windowLifetime = 3
    try await withServer(ServerOptions(limits: limits, derivesKeys: false)) { server in
      try await server.withControl { path in
        var expiring = Watcher(path)
        _ = try await expiring.nextCode()
        #expect(await expiring.next() == .closed(reason: "expired"))
      }
    }
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        var closing = Watcher(path)
        _ = try await closing.nextCode()
        await server.desk.close()
        #expect(await closing.next() == .closed(reason: "closedLocally"))
        var first = Watcher(path)
        _ = try await first.nextCode()
        var second = Watcher(path)
        let live = try await second.nextCode()
        #expect(await first.next() == .closed(reason: "replaced"))
        #expect(try await server.plainPair(live.code.digits).status == 200)
      }
    }
  }

  @Test("a client of the window before, stored late, is not taken for one of this window")
  func lateClient() async throws {
    let (reached, atStore) = AsyncStream.makeStream(of: Void.self)
    let (release, mayStore) = AsyncStream.makeStream(of: Void.self)
    var options = ServerOptions(derivesKeys: false)
    options.beforeStoring = {
      atStore.yield()
      for await _ in release { return }
    }
    try await withServer(options) { server in
      try await server.withControl { path in
        var first = Watcher(path)
        let old = try await first.nextCode()
        async let late = server.plainPair(old.code.digits, name: "late")
        _ = await reached.first { _ in true }
        var second = Watcher(path)
        let new = try await second.nextCode()
        #expect(await first.next() == .closed(reason: "replaced"))
        mayStore.finish()
        #expect(try await late.status == 200)
        #expect(await server.desk.currentCode == new.code)
        #expect(try await server.plainPair(new.code.digits, name: "punctual").status == 200)
        #expect(await second.next() == .paired(name: "punctual"))
      }
    }
  }

  @Test("whoever stops watching can be cancelled at once: its window closes, and the next one opens")
  func cancelWatcher() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        var impatient = Watcher(path)
        let code = try await impatient.nextCode().code
        await impatient.cancel()
        _ = try await eventually { await server.desk.status().window == .closed ? true : nil }
        #expect(try await server.plainPair(code.digits).status == 401)
        let closed = try await eventually { try await server.audited(.windowClosed).first }
        #expect(closed.detail == ["reason": "openerGone"])
        var next = Watcher(path)
        _ = try await next.nextCode()
      }
    }
  }

  @Test("whoever stops watching closes its own window only")
  func cancelReplacedWatcher() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        var watcher = Watcher(path)
        _ = try await watcher.nextCode()
        let window = try await server.desk.open()
        #expect(await watcher.next() == .closed(reason: "replaced"))
        await watcher.cancel()
        #expect(await server.desk.currentCode == window.code)
        #expect(await server.desk.status().opener == .terminal)
      }
    }
  }

  @Test("a window is closed from outside, wherever it was opened")
  func close() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        var watcher = Watcher(path)
        let code = try await watcher.nextCode().code
        #expect(try await ControlClient.closeWindow(at: path))
        #expect(await watcher.next() == .closed(reason: "closedLocally"))
        #expect(try await server.plainPair(code.digits).status == 401)
        #expect(try await !ControlClient.closeWindow(at: path))
        _ = try await server.desk.open()
        #expect(try await ControlClient.closeWindow(at: path))
        #expect(await server.desk.status().window == .closed)
      }
    }
  }

  @Test("what a server says of itself: the window, until when, for what, by whom, and never the code")
  func state() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        var state = try await ControlClient.state(at: path)
        #expect(state.process == getpid() && state.name == "studio" && state.window == .closed)
        let scope = SampleFilter(
          types: [SampleType("HKQuantityTypeIdentifierHeartRate")],
          earliest: Timestamp(microseconds: 1_000_000_000_000_001))
        var watcher = Watcher(path, scope: scope)
        let first = try await watcher.nextCode().code
        #expect(try await server.plainPair(first.wrong.digits).status == 401)
        let code = try await watcher.nextCode().code
        state = try await ControlClient.state(at: path)
        guard case .open(let window) = state.window else {
          Issue.record("\(state)")
          return
        }
        #expect(window.attemptsLeft.rawValue == 4 && window.scope == scope && window.process == getpid())
        #expect((1...300).contains(window.expiresAt.rawValue - Date().timeIntervalSince1970))
        let text = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
        #expect(!text.contains(code.digits) && !text.contains(first.digits))
        await watcher.cancel()
        _ = try await server.desk.open()
        guard case .open(let own) = try await ControlClient.state(at: path).window else {
          Issue.record("not open")
          return
        }
        #expect(own.process == nil && own.scope == nil)
        for _ in 0..<5 {
          let code = try #require(await server.desk.currentCode)
          _ = try await server.plainPair(code.wrong.digits)
        }
        #expect(try await ControlClient.state(at: path).window == .locked)
      }
    }
  }

  @Test("whoever shows a code is told who is kept out of pairing, and by whom, but not each time")
  func keptOut() async throws {
    try await withServer { server in
      try await server.withControl { path in
        var watcher = Watcher(path)
        _ = try await watcher.nextCode()
        for caller in ["a", "b", "c", "d"] { _ = try await server.desk.start(try anyStart(), from: caller) }
        for _ in 0..<20 {
          await #expect(throws: PairRejection.tooManySessions) {
            try await server.desk.start(try anyStart(), from: "e")
          }
        }
        #expect(await watcher.next() == .keptOut(address: "e", holders: ["a", "b", "c", "d"]))
        await server.desk.close()
        #expect(await watcher.next() == .closed(reason: "closedLocally"))
        let kept = try await eventually {
          try await server.audited(.pairingFailed).first { $0.detail["reason"] == "keptOut" }
        }
        #expect(kept.detail == ["reason": "keptOut", "address": "e", "by": "a,b,c,d"])
        _ = try await eventually { try await server.audited(.windowClosed).first }
        #expect(try await server.audited(.pairingFailed).count == 1)
      }
    }
  }

  @Test("numbers beyond measure are no message of a server")
  func numbers() throws {
    func event(_ expiresAt: String, _ attempts: String) throws -> ControlEvent {
      let json =
        #"{"code":{"digits":"000000","uri":"u","json":"j","expiresAt":\#(expiresAt),"attemptsLeft":\#(attempts)}}"#
      return try JSONDecoder().decode(ControlEvent.self, from: Data(json.utf8))
    }
    #expect(throws: Never.self) { try event("1800000000", "4") }
    for (expiresAt, attempts) in [
      ("1e308", "4"), ("-1e308", "4"), ("1e999", "4"), ("1800000000", "-1"), ("1800000000", "9223372036854775807"),
      ("1800000000", "1e300"),
    ] {
      #expect(throws: DecodingError.self, "\(expiresAt) \(attempts)") { try event(expiresAt, attempts) }
    }
    for earliest in ["1e300", "-1e12", "\"\"", "\"300001-01-01\"", "\"2024-01-01T00:00:00Z junk\""] {
      let json = #"{"openWindow":{"scope":{"earliest":\#(earliest)}}}"#
      #expect(throws: DecodingError.self, "\(earliest)") {
        try JSONDecoder().decode(ControlRequest.self, from: Data(json.utf8))
      }
    }
  }

  @Test("nobody who listens is a sentence, not an errno", arguments: ["/tmp/hpeer-nobody/control.sock", "/dev/null"])
  func noServer(path: String) async throws {
    let error = await #expect(throws: ControlClient.NoServer.self) {
      try await ControlClient.openWindow(at: path) { _ in }
    }
    #expect(error?.description.contains("hpeer serve") == true)
  }

  @Test("a socket that a crash left behind is taken over")
  func leftOver() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try Data().write(to: URL(fileURLWithPath: server.socketPath))
      try await server.withControl { path in
        var watcher = Watcher(path)
        _ = try await watcher.nextCode()
      }
    }
  }

  @Test(
    "what is no request opens nothing",
    arguments: [
      "", "\n", "open\n", "\u{0}\n", #"{"openWindow":{"scope":{"types":7}}}"# + "\n",
      String(repeating: "x", count: 40_000),
    ])
  func garbage(text: String) async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
          .channelOption(.allowRemoteHalfClosure, value: true)
          .connect(unixDomainSocketPath: path) { channel in
            channel.eventLoop.makeCompletedFuture { try ByteChannel(wrappingChannelSynchronously: channel) }
          }
        try await channel.executeThenClose { inbound, outbound in
          guard !text.isEmpty else { return }
          try await outbound.write(ByteBuffer(string: text))
          var answer = ""
          for try await bytes in inbound { answer += String(buffer: bytes) }
          #expect(answer.contains("unknown request"))
        }
      }
      #expect(await server.desk.status().window == .closed)
    }
  }
}
