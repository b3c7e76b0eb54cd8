import HealthStore
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust
import Synchronization

/// One server that is followed: tells when something has come, when contact is lost and when it is back, and writes that
/// down.
final class FollowedPeer: Sendable {
  private struct State {
    var total = PullProgress()
    /// What has come and is not written down yet.
    var unrecorded = PullProgress()
    var isLost = false
    var wasReached = false
    /// How long ago the use was noted.
    var sinceNoted: (@Sendable () -> Duration)?
    /// What it was called last.
    var name: String?
    /// As which machine it was met last.
    var machine: MachineMark?
    var stage: (any StageObserver)?
  }

  /// How often it is noted that the server was used, while nothing else happens.
  private static let noting = Duration.seconds(3600)

  let server: ServerRecord
  private let pull: PullOperation
  private let tell: FollowOperation.Listener
  private let firstPullQueue: FirstPullQueue
  private let showsProgress: Bool
  private let state = Mutex(State())

  init(
    server: ServerRecord, pull: PullOperation, tell: @escaping FollowOperation.Listener, firstPullQueue: FirstPullQueue,
    showsProgress: Bool
  ) {
    self.server = server
    self.pull = pull
    self.tell = tell
    self.firstPullQueue = firstPullQueue
    self.showsProgress = showsProgress
  }

  /// What has come in all.
  var total: PullProgress { state.withLock(\.total) }

  /// Throws ``ListenerFailure`` where the listener does.
  func report(_ event: FollowEvent) async throws {
    do {
      try await tell(server, event)
    } catch {
      throw ListenerFailure(error: error)
    }
  }

  /// Tells, once, that nothing is taken from it until there is room.
  func noteNoRoom(_ error: any Error) async throws {
    let isNews = state.withLock { state in
      defer { state.isLost = true }
      return !state.isLost
    }
    if isNews { try await report(.noRoom(error)) }
  }

  /// Runs until the task is cancelled, which ends it with `CancellationError`, or until it is of no more use.
  func follow(_ endpoints: [PeerEndpoint]) async throws {
    try await pull.settlingPerson(of: server) { try await followOnce(endpoints) }
  }

  private func followOnce(_ endpoints: [PeerEndpoint]) async throws {
    try await pull.local.store.requireRoom()
    try await pull.local.store.activities.begin(
      PullOperation.activity(of: server),
      event: AuditEvent(.pullStarted, ["peer": server.name, "id": server.id.hex, "watch": "true"]))
    let follow = Follow(
      into: pull.local.store, from: server, finder: pull.finder, identity: pull.local.identity, types: pull.types,
      ownName: pull.local.name, silenceLimit: pull.silenceLimit, persons: pull.persons, firstPullQueue: firstPullQueue,
      heard: { [self] in state.withLock(\.stage)?.hear() })
    do {
      try await follow.run(endpoints: endpoints, full: pull.isFull) { try await self.handle($0) }
    } catch {
      finishStage()
      let done = takeUnrecorded()
      try await uncancelled { [self] in
        if error is CancellationError || error is ListenerFailure {
          try await pull.record(.pullFinished, server, done, keepsState: true)
        } else {
          try await pull.record(
            .pullFailed, server, done, reason: (error as? PeerError)?.auditReason ?? "other", failure: error)
        }
      }
      if case PeerError.tokenRefused? = error as? PeerError { await pull.explain(server, endpoints) }
      throw error
    }
  }

  private func handle(_ event: Follow.Event) async throws {
    switch event {
    case .progress(let new, let expected): show(new, of: expected)
    case .upToDate(let new, let endpoint):
      finishStage()
      try await note(endpoint, name: new.peerName)
      try await meet(new.machine, at: endpoint)
      let (isBack, isFirst) = add(new) { state in
        defer { (state.isLost, state.wasReached) = (false, true) }
        return (state.isLost && state.wasReached, !state.wasReached)
      }
      if isBack || isFirst { try await noteState(failure: nil) }
      if isBack { try await report(.back) }
      if new.changes > 0 { try await report(.came(new)) }
      if isFirst { try await report(.upToDate) }
    case .lost(let error, let new):
      finishStage()
      let (isNews, wasReached) = add(new) { state in
        defer { state.isLost = true }
        return (!state.isLost, state.wasReached)
      }
      if new.changes > 0 { try await report(.came(new)) }
      guard isNews else { return }
      try await report(.lost(error, wasReached: wasReached))
      let done = takeUnrecorded()
      if done.changes > 0 {
        try await pull.record(
          .pullFinished, server, done, reason: (error as? PeerError)?.auditReason ?? "other", failure: error)
      } else {
        try await noteState(failure: "\(error)")
      }
    }
  }

  /// For whoever asks how it is going: when contact is made, lost or there again.
  private func noteState(failure: String?) async throws {
    try await pull.local.store.activities.end(PullOperation.activity(of: server), failure: failure, event: nil)
  }

  private func show(_ new: PullProgress, of expected: Int?) {
    guard showsProgress else { return }
    let stage = state.withLock { state in
      let stage =
        state.stage
        ?? pull.progress.begin(
          ProgressStage(.pulling(from: server.name), patience: .seconds(pull.silenceLimit)))
      state.stage = stage
      return stage
    }
    stage.setTotal(items: expected)
    stage.update(items: new.changes, bytes: new.bytes)
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

  private func finishStage() {
    let stage = state.withLock { state in
      defer { state.stage = nil }
      return state.stage
    }
    stage?.finish()
  }

  private func meet(_ machine: MachineMark?, at endpoint: PeerEndpoint) async throws {
    let isAnother = state.withLock { state in
      defer { state.machine = machine ?? state.machine }
      return machine != state.machine
    }
    if isAnother { try await pull.meet(machine, of: server, at: endpoint) }
  }

  /// When contact is made, and now and then.
  private func note(_ endpoint: PeerEndpoint, name: String?) async throws {
    let isDue = state.withLock { state in
      guard state.isLost || state.sinceNoted.map({ $0() > Self.noting }) ?? true else { return false }
      state.sinceNoted = ClientNetwork.current.clock.stopwatch()
      return true
    }
    guard isDue else { return }
    // Said, and written down, once: this record has the name that it began with.
    let isNamed = state.withLock { state in
      defer { state.name = name ?? state.name }
      return name == state.name
    }
    try await pull.note(server, at: endpoint, name: isNamed ? nil : name)
  }
}
