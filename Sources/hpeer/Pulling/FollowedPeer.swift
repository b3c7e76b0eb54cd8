import Foundation
import HealthStore
import OperatingSystem
import PeerClient
import PeerDiscovery
import PeerTrust
import Synchronization
import Terminal

/// One server that is followed: says when something has come, when contact is lost and when it is back, and writes that
/// down.
final class FollowedPeer: Sendable {
  private struct State {
    var total = PullProgress()
    /// What has come and is not written down yet.
    var unrecorded = PullProgress()
    var isLost = false
    var wasReached = false
    var noted: ContinuousClock.Instant?
    /// What it was called last.
    var name: String?
    var bar: ProgressBar?
  }

  /// How often it is noted that the server was used, while nothing else happens.
  private static let noting = Duration.seconds(3600)

  let server: ServerRecord
  private let puller: Puller
  private let firstTurn: FirstTurn
  private let showsBar: Bool
  private let state = Mutex(State())

  init(server: ServerRecord, puller: Puller, firstTurn: FirstTurn, showsBar: Bool) {
    self.server = server
    self.puller = puller
    self.firstTurn = firstTurn
    self.showsBar = showsBar
  }

  /// What has come in all.
  var total: PullProgress { state.withLock(\.total) }

  func say(_ text: String) {
    Console.say("\(PlainText.escaped(server.name)): \(text)")
  }

  /// Runs until the task is cancelled, which ends it with `CancellationError`, or until it is of no more use.
  func follow(_ endpoints: [PeerEndpoint]) async throws {
    try await puller.settlingPerson(of: server) { try await followOnce(endpoints) }
  }

  private func followOnce(_ endpoints: [PeerEndpoint]) async throws {
    try await puller.store.record(
      AuditEvent(.pullStarted, ["peer": server.name, "id": server.id.hex, "watch": "true"]))
    let follow = Follow(
      into: puller.store, from: server, finder: puller.finder, identity: puller.identity, types: puller.types,
      ownName: Hostname.short, silenceLimit: puller.timeout, persons: puller.persons, firstTurn: firstTurn,
      heard: { [self] in state.withLock(\.bar)?.hear() })
    do {
      try await follow.run(endpoints: endpoints, full: puller.full) { try await self.tell($0) }
    } catch {
      finishBar()
      let done = takeUnrecorded()
      // What was read is written down even if the task has been cancelled.
      try await Task { [self] in
        if error is CancellationError || error is OutputError {
          try await puller.record(.pullFinished, server, done)
        } else {
          try await puller.record(.pullFailed, server, done, reason: (error as? PeerError)?.auditReason ?? "other")
        }
      }.value
      if case PeerError.tokenRefused? = error as? PeerError { await puller.explain(server, endpoints) }
      throw error
    }
  }

  private func tell(_ event: Follow.Event) async throws {
    switch event {
    case .progress(let new, let expected):
      guard showsBar else { return }
      let bar = state.withLock { state in
        let bar =
          state.bar
          ?? ProgressBar(
            label: PlainText.escaped(server.name, limit: 20), patience: .seconds(puller.timeout),
            capabilities: Console.capabilities)
        state.bar = bar
        return bar
      }
      bar.setTotal(items: expected)
      bar.update(items: new.changes, bytes: new.bytes)
    case .upToDate(let new, let endpoint):
      finishBar()
      try await note(endpoint, name: new.peerName)
      let (isBack, isFirst) = add(new) { state in
        defer { (state.isLost, state.wasReached) = (false, true) }
        return (state.isLost && state.wasReached, !state.wasReached)
      }
      if isBack { say("back.") }
      if new.changes > 0 { try FollowPresentation(server: server, new: new).print(json: puller.json) }
      if isFirst { say("up to date; waiting for what happens there (Ctrl-C ends it).") }
    case .lost(let error, let new):
      finishBar()
      let (isNews, wasReached) = add(new) { state in
        defer { state.isLost = true }
        return (!state.isLost, state.wasReached)
      }
      if new.changes > 0 { try FollowPresentation(server: server, new: new).print(json: puller.json) }
      guard isNews else { return }
      say("\(wasReached ? "contact lost" : "no contact yet") (\(Self.reason(error))); trying again until it is there.")
      let done = takeUnrecorded()
      if done.changes > 0 {
        try await puller.record(
          .pullFinished, server, done, reason: (error as? PeerError)?.auditReason ?? "other")
      }
    }
  }

  private func add<Value: Sendable>(_ new: PullProgress, _ body: (inout sending State) -> sending Value) -> Value {
    state.withLock { state in
      state.total += new
      state.unrecorded += new
      return body(&state)
    }
  }

  private func takeUnrecorded() -> PullProgress {
    state.withLock { state in
      defer { state.unrecorded = PullProgress() }
      return state.unrecorded
    }
  }

  private func finishBar() {
    let bar = state.withLock { state in
      defer { state.bar = nil }
      return state.bar
    }
    bar?.finish()
  }

  /// When contact is made, and now and then.
  private func note(_ endpoint: PeerEndpoint, name: String?) async throws {
    let isDue = state.withLock { state in
      guard state.isLost || state.noted.map({ $0.duration(to: .now) > Self.noting }) ?? true else { return false }
      state.noted = .now
      return true
    }
    guard isDue else { return }
    // Said, and written down, once: this record has the name that it began with.
    let isNamed = state.withLock { state in
      defer { state.name = name ?? state.name }
      return name == state.name
    }
    try await puller.note(server, at: endpoint, name: isNamed ? nil : name)
  }

  /// In a few words: what an error advises is being done.
  private static func reason(_ error: any Error) -> String {
    switch error {
    case PeerError.unreachable(let endpoint, let reason):
      PlainText.escaped("nothing at \(endpoint): \(reason)", limit: 200)
    case PeerError.connectionLost: "the connection was closed"
    case PeerError.silent(_, let seconds): "it has said nothing for \(seconds) s"
    case PeerError.busy: "it is busy"
    case PeerFinderError.notFound: "not found on this network"
    case StoreError.locked: "another process keeps this store locked"
    default: ErrorText.sentence(error)
    }
  }
}
