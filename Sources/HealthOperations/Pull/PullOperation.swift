import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust
import Synchronization

/// The outcome of one pull.
public struct PullResult: Sendable {
  /// The server's registry entry from before the pull. Only the registry has its current address and name.
  public let server: ServerRecord
  /// The changes that were pulled; the sum if a second pull followed.
  public internal(set) var done: PullProgress
  /// The duration from locating the server to the last registry update, without the wait for a confirmation by a
  /// person.
  public internal(set) var duration: Duration
  /// The coverage of each sample type after a pull from an app; `nil` for other servers.
  public internal(set) var coverage: PullCoverage?

  /// Adds the outcome of a later pull.
  mutating func append(_ other: PullResult) {
    done += other.done
    duration += other.duration
    coverage = other.coverage ?? coverage
  }
}

/// An error for a pull that the network or the other machine ended after some changes had arrived. They are saved,
/// and the next pull continues from there.
public struct PartialPull: Error, Sendable {
  /// The underlying ``PeerError`` or ``PeerFinderError``, after which the pull may simply be retried.
  public let cause: any Error
  /// The changes that are saved, at least one.
  public let done: PullProgress
}

/// An operation that brings a store up to date with one paired server, and records that in the audit log.
///
/// ```swift
/// func pull(from server: ServerRecord, into local: LocalPeer, finder: PeerFinder) async throws {
///   let operation = PullOperation(local, finder: finder, persons: PersonCheck(local.registry))
///   let result = try await operation.run(from: server, at: PeerFinder.hint(of: server))
///   print(result.done.added, "samples in", result.duration)
/// }
/// ```
///
/// A batch and the position after it are one transaction. If a pull is cancelled or cut off, all complete batches are
/// saved, and the next pull continues from there.
public struct PullOperation: Sendable {
  let local: LocalPeer
  /// The store that pulls write to.
  public var store: HealthStore { local.store }
  let finder: PeerFinder
  let persons: PersonCheck
  let types: [SampleType]
  let isFull: Bool
  let infersDeletions: Bool
  let silenceLimit: Int
  let progress: any ProgressObserver
  let confirm: PersonConfirmation?
  let notice: @Sendable (PeerNotice) -> Void

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - persons: shared by all pulls of one command, because it may allow merging persons once.
  ///   - types: the types to pull; empty for all that the server allows.
  ///   - isFull: compares from the beginning instead of from the last pull.
  ///   - infersDeletions: treats samples that an app no longer lists as deleted.
  ///   - silenceLimit: seconds without a byte after which the server counts as gone.
  ///   - confirm: asks whether both records are of one person; `nil` if there is no person to ask.
  public init(
    _ local: LocalPeer, finder: PeerFinder, persons: PersonCheck, types: [SampleType] = [], isFull: Bool = false,
    infersDeletions: Bool = false, silenceLimit: Int = PeerConnection.silenceLimit,
    progress: any ProgressObserver = NoProgress(),
    confirm: PersonConfirmation? = nil, notice: @escaping @Sendable (PeerNotice) -> Void = { _ in }
  ) {
    self.local = local
    self.finder = finder
    self.persons = persons
    self.types = types
    self.isFull = isFull
    self.infersDeletions = infersDeletions
    self.silenceLimit = silenceLimit
    self.progress = progress
    self.confirm = confirm
    self.notice = notice
  }

  /// Pulls all changes since the last pull.
  ///
  /// Throws ``PeerError``, ``PeerFinderError`` or ``StoreError`` if nothing was pulled, ``PartialPull`` if some
  /// changes were, and `CancellationError` when the task is cancelled.
  ///
  /// - Parameter endpoints: the last known addresses; the server is discovered if none of them is right any more.
  public func run(from server: ServerRecord, at endpoints: [PeerEndpoint]) async throws -> PullResult {
    try await settlingPerson(of: server) { try await pull(from: server, at: endpoints) }
  }

  /// Returns the time zone whose days count on a machine that was just pulled from; nil if its owner chose none, if this
  /// machine may not read everything there, or if it does not answer.
  public func homeZone(of server: ServerRecord) async -> TimeZone? {
    guard server.dialect == HpeerDialect.name,
      let current = try? await local.registry.server(id: server.id), let endpoint = PeerFinder.hint(of: current).first
    else { return nil }
    let status = try? await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(current.fingerprint, peer: current.name), identity: local.identity,
      silenceLimit: silenceLimit
    ) { try await $0.status(as: current) }
    return status?.homeZone.flatMap { $0.utf8.count <= 64 ? TimeZone(identifier: $0) : nil }
  }

  private func pull(from server: ServerRecord, at endpoints: [PeerEndpoint]) async throws -> PullResult {
    let started = ContinuousClock.now
    let stage = progress.begin(ProgressStage(.pulling(from: server.name), patience: .seconds(silenceLimit)))
    defer { stage.finish() }
    let latest = LatestProgress()
    try await local.store.requireRoom()
    try await local.store.activities.begin(
      Self.activity(of: server), event: AuditEvent(.pullStarted, ["peer": server.name, "id": server.id.hex]))
    do {
      let (done, endpoint) = try await finder.reach(server, endpoints: endpoints) { endpoint, handshakeLimit in
        try await Pull(
          into: local.store, from: server, at: endpoint, identity: local.identity, types: types, ownName: local.name,
          silenceLimit: silenceLimit, handshakeLimit: handshakeLimit, persons: persons,
          infersDeletions: infersDeletions,
          heard: { stage.update(bytes: $0) }
        ).run(full: isFull) { done, total in
          latest.set(done)
          stage.setTotal(items: total)
          stage.update(items: done.changes, bytes: done.bytes)
        }
      }
      stage.finish()
      let coverage = try await Pull.coverage(of: server, types: types, after: done, in: local.store)
      let unread = coverage?.failing ?? []
      try await uncancelled {
        async let noted: Void = note(server, at: endpoint, name: done.peerName)
        if unread.isEmpty { try await record(.pullFinished, server, done) }
        try await noted
        try await meet(done.machine, of: server, at: endpoint)
      }
      guard unread.isEmpty else {
        throw PeerError.typesUnread(
          peer: server.name, types: unread.map(\.type.shortName), reason: unread.first?.problem ?? "")
      }
      return PullResult(server: server, done: done, duration: started.duration(to: .now), coverage: coverage)
    } catch {
      stage.finish()
      // A cancelled read may fail with any error.
      let error = Task.isCancelled ? CancellationError() : error
      if case PeerError.tokenRefused? = error as? PeerError { await explain(server, endpoints) }
      let done = latest.value
      try await uncancelled {
        try await record(
          .pullFailed, server, done, reason: (error as? PeerError)?.auditReason ?? "other", failure: error)
      }
      throw done.changes > 0 && Self.mayGoOn(after: error) ? PartialPull(cause: error, done: done) : error
    }
  }

  /// Returns whether the network or the other machine ended the pull, so that no person has to decide anything.
  private static func mayGoOn(after error: any Error) -> Bool {
    // An app in the background is worth searching again, because it has another port each time.
    switch error as? PeerFinderError {
    case .notFound, .appNotFound, .anotherPhone: return true
    case .nobody, .several, .sameName, nil: break
    }
    return switch (error as? PeerError)?.category {
    case .unreachable, .interrupted, .failing, .malformed, .locked: true
    case .certificateChanged, .refused, .anotherPerson, .temporary, nil: false
    }
  }
}

/// A box for the latest progress, which is needed if the pull fails.
private final class LatestProgress: Sendable {
  private let box = Mutex(PullProgress())
  var value: PullProgress { box.withLock { $0 } }
  func set(_ progress: PullProgress) { box.withLock { $0 = progress } }
}
