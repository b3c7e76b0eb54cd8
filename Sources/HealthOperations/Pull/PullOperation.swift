import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust
import Synchronization

/// What one pull did.
public struct PullResult: Sendable {
  /// As it was before the pull: where it was found, and what it is called by now, only the registry has.
  public let server: ServerRecord
  /// What has come; where a second pull had to follow, of both.
  public internal(set) var done: PullProgress
  /// From looking for the machine to the last note of it, without the time that somebody took to say whose record it
  /// is.
  public internal(set) var duration: Duration
  /// Of an app's record, what is vouched for afterwards.
  public internal(set) var coverage: PullCoverage?

  /// What another pull after this one did.
  mutating func append(_ other: PullResult) {
    done += other.done
    duration += other.duration
    coverage = other.coverage ?? coverage
  }
}

/// A pull that the network or the other machine ended after something had come. What has come is saved, and the next
/// pull goes on from there.
public struct PartialPull: Error, Sendable {
  /// A ``PeerError`` after which the same pull may be tried again: nobody has to decide anything.
  public let cause: any Error
  /// What is saved; at least one change.
  public let done: PullProgress
}

/// Brings a store up to date with one paired machine's, and writes that down.
///
/// ```swift
/// func pull(from server: ServerRecord, into local: LocalPeer, finder: PeerFinder) async throws {
///   let operation = PullOperation(local, finder: finder, persons: PersonCheck(local.registry))
///   let result = try await operation.run(from: server, at: PeerFinder.hint(of: server))
///   print(result.done.added, "samples in", result.duration)
/// }
/// ```
///
/// A batch and the position after it are one transaction: cancelled or cut off anywhere, what came is saved, and the same
/// again goes on from there.
public struct PullOperation: Sendable {
  let local: LocalPeer
  /// What is pulled into.
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

  /// - Parameters:
  ///   - persons: the same for all pulls of one command, which may merge persons once.
  ///   - types: only these; empty for all that the other machine lets us see.
  ///   - isFull: compares from the beginning instead of from the last pull.
  ///   - infersDeletions: takes for deleted what an app has ceased to list.
  ///   - silenceLimit: seconds without a byte after which the other machine counts as gone.
  ///   - confirm: asks whether both records are of one person; `nil` where there is nobody to ask.
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

  /// Throws ``PeerError``, ``PeerFinderError`` or ``StoreError`` where nothing came, ``PartialPull`` where something did, and
  /// `CancellationError` when the task is cancelled.
  ///
  /// - Parameter endpoints: where it was last; it is looked for where it is not there any more.
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
      // However a read says that it was cancelled.
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

  /// Whether the network or the other machine ended the pull, and not what somebody must decide about.
  private static func mayGoOn(after error: any Error) -> Bool {
    // An app that is put away is looked for again, because it has another port each time.
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

/// The latest progress, for the report of a pull that fails.
private final class LatestProgress: Sendable {
  private let box = Mutex(PullProgress())
  var value: PullProgress { box.withLock { $0 } }
  func set(_ progress: PullProgress) { box.withLock { $0 = progress } }
}
