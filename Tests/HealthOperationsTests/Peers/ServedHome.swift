import Foundation
import HealthOperations
import HealthStore
import Logging
import PeerClient
import PeerProtocol
import PeerTrust
import ServiceLifecycle
import Synchronization

/// A home that is served on loopback without announcement, as by `hpeer serve`.
struct ServedHome: Sendable {
  let home: TestHome
  let local: LocalPeer
  let operation: ServeOperation
  let port: Int
  private let log: EventLog

  /// The events so far, each with the audit log's entries at that time.
  var told: [(event: String, audited: [String])] { log.told }

  /// Waits until an event has occurred.
  func hears(_ event: String) async { _ = await log.names().first { $0 == event } }

  /// Runs `body` while the home is served, then shuts down gracefully.
  static func run<Value: Sendable>(
    _ home: TestHome, _ body: @escaping @Sendable (ServedHome) async throws -> Value
  ) async throws -> Value {
    let local = try await home.local(name: "studio")
    let lock = try ServeLock(home.home)
    defer { lock.release() }
    var settings = ServeSettings(version: "9.8.7")
    settings.host = "127.0.0.1"
    settings.port = 0
    settings.isAdvertised = false
    let log = EventLog()
    let (ports, listens) = AsyncStream.makeStream(of: Int.self)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let operation = try await ServeOperation(home.home, local, settings, holding: lock, logger: logger) { event in
      await log.note(event, in: home)
      if case .listening(let port, _, _) = event { listens.yield(port) }
    }
    let group = ServiceGroup(services: [operation], logger: logger)
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        defer { listens.finish() }
        try await group.run()
      }
      guard let port = await ports.first(where: { _ in true }) else {
        try await tasks.waitForAll()
        throw CancellationError()
      }
      let served = ServedHome(home: home, local: local, operation: operation, port: port, log: log)
      let value: Value
      do {
        value = try await body(served)
      } catch {
        await group.triggerGracefulShutdown()
        throw error
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
      return value
    }
  }

  /// Opens a pairing window and returns the content of its code.
  func window() async throws -> PairingPayload {
    let codes = log.codes()
    try await operation.openWindow(scope: nil)
    guard let code = await codes.first(where: { _ in true }) else { throw CancellationError() }
    return code.payload
  }
}

extension TestHome {
  /// Returns this home as a machine with the given name.
  func local(name: String) async throws -> LocalPeer {
    LocalPeer(
      store: store, registry: try await home.openRegistry(), identity: try await home.identity(), name: name)
  }
}

extension LocalPeer {
  var finder: PeerFinder { PeerFinder(registry: registry, ownID: identity.id) { $0 } }
}

/// A log of a server's events.
private final class EventLog: Sendable {
  private struct State {
    var told: [(event: String, audited: [String])] = []
    var listeners: [AsyncStream<WindowCode>.Continuation] = []
    var namesListeners: [AsyncStream<String>.Continuation] = []
  }

  private let state = Mutex(State())

  var told: [(event: String, audited: [String])] { state.withLock(\.told) }

  /// Returns a stream of the codes that are shown from now on.
  func codes() -> AsyncStream<WindowCode> {
    let (codes, continuation) = AsyncStream.makeStream(of: WindowCode.self)
    state.withLock { $0.listeners.append(continuation) }
    return codes
  }

  /// Returns a stream of event names, including past events.
  func names() -> AsyncStream<String> {
    let (names, continuation) = AsyncStream.makeStream(of: String.self)
    state.withLock { state in
      for told in state.told { continuation.yield(told.event) }
      state.namesListeners.append(continuation)
    }
    return names
  }

  func note(_ event: ServeEvent, in home: TestHome) async {
    let audited = (try? await home.auditedNames()) ?? []
    let name = Self.name(of: event)
    state.withLock { state in
      state.told.append((name, audited))
      for listener in state.namesListeners { listener.yield(name) }
    }
    guard case .code(let code) = event else { return }
    for listener in state.withLock(\.listeners) { listener.yield(code) }
  }

  private static func name(of event: ServeEvent) -> String {
    switch event {
    case .listening: "listening"
    case .pairing(.windowOpened): "window.opened"
    case .pairing(.windowClosed): "window.closed"
    case .pairing(.succeeded): "pairing.succeeded"
    case .pairing(.failed): "pairing.failed"
    case .pairing: "pairing"
    case .code: "code"
    case .codeUnavailable: "no code"
    case .advertising, .notAdvertised, .metrics: "advertising"
    }
  }
}
