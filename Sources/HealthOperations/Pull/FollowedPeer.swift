import HealthStore
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust
import Synchronization

/// The state of one followed server. It reports when changes arrive and when the connection is lost and back, and
/// records that in the audit log.
final class FollowedPeer: Sendable {
  private struct State {
    var total = PullProgress()
    /// The changes that were pulled and are not in the audit log yet.
    var unrecorded = PullProgress()
    var isLost = false
    var wasReached = false
    /// A stopwatch that was started when the use of the server was last noted.
    var sinceNoted: (@Sendable () -> Duration)?
    /// The name that the server most recently gave itself.
    var name: String?
    /// The machine mark of the server's most recent answer.
    var machine: MachineMark?
    var stage: (any StageObserver)?
  }

  /// The interval at which the use of the server is noted while nothing else happens.
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

  /// The sum of all changes pulled so far.
  var total: PullProgress { state.withLock(\.total) }

  /// Sends an event to the listener. Throws ``ListenerFailure`` if the listener throws.
  func report(_ event: FollowEvent) async throws {
    do {
      try await tell(server, event)
    } catch {
      throw ListenerFailure(error: error)
    }
  }

  /// Reports, once, that nothing is pulled from the server until the disk has room.
  func noteNoRoom(_ error: any Error) async throws {
    let isNews = state.withLock { state in
      defer { state.isLost = true }
      return !state.isLost
    }
    if isNews { try await report(.noRoom(error)) }
  }

  /// Pulls until the task is cancelled (`CancellationError`) or an error occurs that retrying cannot fix.
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

  /// Updates the activity state that commands show: contact was made, lost or is back.
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

  /// Notes the address, the name and the use of the server: when contact is made, and once an hour after that.
  private func note(_ endpoint: PeerEndpoint, name: String?) async throws {
    let isDue = state.withLock { state in
      guard state.isLost || state.sinceNoted.map({ $0() > Self.noting }) ?? true else { return false }
      state.sinceNoted = ClientNetwork.current.clock.stopwatch()
      return true
    }
    guard isDue else { return }
    // A new name is recorded only once; `server` keeps the name from before.
    let isNamed = state.withLock { state in
      defer { state.name = name ?? state.name }
      return name == state.name
    }
    try await pull.note(server, at: endpoint, name: isNamed ? nil : name)
  }
}
