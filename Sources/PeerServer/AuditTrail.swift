import HealthModel
import HealthStore
import Logging
import OperatingSystem
import PeerProtocol
import PeerTrust
import ServiceLifecycle
import Synchronization

/// The writer of the server's events into the store's audit log. Reads are recorded before the data is sent, and a
/// failure to write the log is reported.
///
/// Reads are counted by the minute (``AuditRead``), so that a client with read access cannot fill the disk with log
/// entries.
public final class AuditTrail: Sendable {
  private let store: HealthStore
  private let logger: Logger
  private let noise = Mutex(EventRateLimiter())
  /// The rate limiters of refusals, keyed by inbox sender. All requests without a known secret share the one under
  /// the empty name.
  private let inboxNoise = Mutex<[String: EventRateLimiter]>([:])
  private let clock: any Clock<Duration>
  /// Returns the time since this trail was created.
  private let elapsed: @Sendable () -> Duration
  private let minute: Duration
  /// The identifier of this trail's clock; see ``AuditRead/Moment``.
  private let session = Int64.random(in: 1...Int64.max)
  /// A signal that a read was counted, so that ``sealMinutes()`` only wakes when there is work.
  private let counting: (begun: AsyncStream<Void>, begin: AsyncStream<Void>.Continuation)

  /// - Parameters:
  ///   - minute: the time over which a peer's reads are counted as one event.
  public init(
    store: HealthStore, logger: Logger, minute: Duration = .seconds(60),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.store = store
    self.logger = logger
    self.minute = minute
    self.clock = clock
    elapsed = clock.stopwatch()
    let (begun, begin) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    counting = (begun, begin)
  }

  /// Writes the counted reads into the log after each minute, until the task is cancelled or the service shuts down.
  /// Call this once.
  func sealMinutes() async {
    guard minute > .zero else { return }
    await cancelWhenGracefulShutdown { [self] in
      for await _ in counting.begun {
        try? await clock.sleep(for: minute)
        if Task.isCancelled { return }
        do {
          try await store.audit.sealReads(overAt: moment)
        } catch {
          // The counts are kept and written with the next event.
          logger.error("the audit log cannot be written: \(error)")
        }
      }
    }
  }

  private var moment: AuditRead.Moment {
    AuditRead.Moment(
      session: session, elapsed: Int64(elapsed() / .milliseconds(1)), minute: Int64(minute / .milliseconds(1)))
  }

  /// Records an event that has already happened. A failure to write is logged, not thrown.
  public func record(_ name: AuditEvent.Name, _ detail: [String: String] = [:]) async {
    do {
      try await require(name, detail)
    } catch {
      logger.error("the audit log cannot be written: \(error)")
    }
  }

  /// Records an event before it happens. Throws ``StoreError`` if the log cannot be written; the request must then be
  /// refused.
  private func require(_ name: AuditEvent.Name, _ detail: [String: String]) async throws {
    try await uncancelled { [store] in try await store.audit.record(AuditEvent(name, detail)) }
  }

  /// Records a peer's read before it is answered. Throws if the log cannot be written.
  ///
  /// - Parameters:
  ///   - kind: reads with equal name and kind are counted together.
  ///   - position: the position to which the answer reaches, so that data withdrawn meanwhile is not sent; `nil` if
  ///     it was already sent.
  ///   - anchor: the last change that the answer contains, or `nil` if it contains none.
  private func requireRead(
    _ name: AuditEvent.Name, by client: AuthorizedClient, kind: String = "", _ detail: [String: String],
    at position: (anchor: Anchor, epoch: Epoch)? = nil, read anchor: Anchor? = nil
  ) async throws {
    let detail = detail.merging(["peer": client.name, "id": client.id.hex]) { $1 }
    let read = AuditRead(AuditEvent(name, detail), by: client.id.hex, kind: kind, at: moment)
    try await uncancelled { [store] in try await store.audit.record(read, at: position, read: anchor) }
    counting.begin.yield()
  }

  /// Records a status request, before the answer tells the caller how many types it may read.
  func toldStatus(_ client: AuthorizedClient, types: Int) async throws {
    try await requireRead(.statusRead, by: client, ["types": String(types)])
  }

  func listed(_ client: AuthorizedClient, types: Int) async throws {
    try await requireRead(.typesListed, by: client, ["types": String(types)])
  }

  /// Records a feed before its first byte is sent: complete if it is one page, otherwise as started. Throws
  /// ``StoreError/anchorOutOfRange`` if the store no longer holds the page's position.
  func begin(_ client: AuthorizedClient, _ query: ChangeQuery, _ page: CodedChangePage, isWhole: Bool) async throws {
    let position = (anchor: page.anchor, epoch: page.epoch)
    if isWhole {
      let count = page.changes.count
      try await requireRead(
        .dataRead, by: client, Self.detail(query, count: count, upTo: page.anchor, complete: true), at: position,
        read: count > 0 ? page.anchor : nil)
    } else {
      try await requireRead(.readStarted, by: client, Self.detail(query), at: position)
    }
  }

  /// Records a connection's first long poll. The data sent later is recorded as it is read; waiting is not recorded.
  func follows(_ client: AuthorizedClient, _ query: ChangeQuery) async throws {
    try await requireRead(.followStarted, by: client, Self.detail(query))
  }

  /// Records how much of a streamed feed was sent, after its last byte. ``begin(_:_:_:isWhole:)`` recorded its start.
  func read(_ client: AuthorizedClient, _ query: ChangeQuery, count: Int, upTo anchor: Anchor, complete: Bool) async {
    var detail = Self.detail(query, count: count, upTo: anchor, complete: complete)
    detail[AuditRead.streamsKey] = "1"
    do {
      try await requireRead(.dataRead, by: client, detail, read: count > 0 ? anchor : nil)
    } catch {
      logger.error("the audit log cannot be written: \(error)")
    }
  }

  private static func detail(_ query: ChangeQuery) -> [String: String] {
    detail(query.filter).merging(["from": String(query.since.change)]) { $1 }
  }

  private static func detail(_ filter: SampleFilter) -> [String: String] {
    var detail: [String: String] = [:]
    if let types = filter.types { detail["types"] = types.map(\.shortName).sorted().joined(separator: ",") }
    if let earliest = filter.earliest { detail["earliest"] = earliest.iso8601 }
    if let end = filter.end { detail["end"] = end.iso8601 }
    if let sources = filter.sourceList { detail["sources"] = sources }
    return detail
  }

  private static func detail(
    _ query: ChangeQuery, count: Int, upTo anchor: Anchor, complete: Bool
  ) -> [String: String] {
    var detail = detail(query)
    detail["count"] = String(count)
    detail["to"] = String(anchor.change)
    detail["complete"] = String(complete)
    return detail
  }

  /// - Parameter position: the store's position before the samples were read.
  func read(
    _ client: AuthorizedClient, type: SampleType, offset: Int, count: Int, at position: (anchor: Anchor, epoch: Epoch)
  ) async throws {
    try await requireRead(
      .dataRead, by: client, ["types": type.shortName, "count": String(count), "offset": String(offset)], at: position,
      read: count > 0 ? position.anchor : nil)
  }

  /// Records a digest request, before the digest or a refusal because of its size is sent.
  func digested(
    _ client: AuthorizedClient, _ selection: DigestSelection, _ filter: SampleFilter, _ digest: StoreDigest
  ) async throws {
    var detail = Self.detail(filter)
    detail["samples"] = String(digest.record.samples.count)
    detail["to"] = String(digest.anchor.change)
    if selection.isDeep { detail["deep"] = "true" }
    if let months = selection.months { detail["months"] = "\(months.lowerBound)...\(months.upperBound)" }
    try await requireRead(.digestRead, by: client, detail)
  }

  /// Records a statistics request before it is answered.
  func counted(_ client: AuthorizedClient, _ question: StatisticsQuestion) async throws {
    var detail = ["types": question.types.map(\.shortName).sorted().joined(separator: ",")]
    detail["bucket"] = question.size.rawValue
    detail["zone"] = question.zone.name
    detail["from"] = question.from
    detail["to"] = question.to
    detail["sources"] = SampleFilter(sources: question.sources).sourceList
    try await requireRead(.statisticsRead, by: client, kind: " \(question.size.rawValue)", detail)
  }

  /// Records a pairing view before it is sent.
  ///
  /// - Parameter outcome: the result of connecting to the caller; `nil` if the server does not pull from it.
  func viewed(_ client: AuthorizedClient, address: String, way outcome: PairingView.Outcome?) async throws {
    var detail = ["address": address]
    detail["reached"] = outcome?.rawValue
    // There are few outcomes, so each counts as a kind of its own. The log has the first address of each.
    try await requireRead(.pairingRead, by: client, kind: outcome.map { " \($0.rawValue)" } ?? "", detail)
  }

  /// Records a comparison of persons before its verdict is sent.
  ///
  /// - Parameter claims: the number of different persons that the caller has claimed, including this one.
  func compared(_ client: AuthorizedClient, _ verdict: PersonAnswer.Verdict, claims: Int) async throws {
    // Verdict and count have few values.
    try await requireRead(
      .personCompared, by: client, kind: " \(verdict.rawValue) \(claims)",
      ["person": verdict.rawValue, "claims": String(claims)])
  }

  /// Records a refused caller that has claimed too many persons, rate-limited by ``EventRateLimiter``.
  func refusedPerson(of client: AuthorizedClient) async {
    guard let skipped = noise.withLock({ $0.admit("person", at: elapsed()) }) else { return }
    var detail = ["peer": client.name, "id": client.id.hex]
    if skipped > 0 { detail["alsoRefused"] = String(skipped) }
    await record(.personRefused, detail)
  }

  /// Records a caller without a valid token, rate-limited by ``EventRateLimiter``, with the number of unrecorded
  /// ones.
  ///
  /// - Parameter client: the client whose token it was, if known.
  func refused(_ reason: String, address: String, client: PeerID? = nil) async {
    guard let skipped = noise.withLock({ $0.admit(reason, at: elapsed()) }) else { return }
    var detail = ["reason": reason, "address": address]
    detail["id"] = client?.hex
    if skipped > 0 { detail["alsoRefused"] = String(skipped) }
    await record(.tokenRefused, detail)
  }

  /// Records a refused inbox request, rate-limited by ``EventRateLimiter`` for each sender and reason.
  ///
  /// - Parameter sender: the sender's name, or `nil` if unknown.
  func refusedBody(_ reason: String, of sender: String?, address: String) async {
    let skipped = inboxNoise.withLock { $0[sender ?? "", default: EventRateLimiter()].admit(reason, at: elapsed()) }
    guard let skipped else { return }
    var detail = ["reason": reason, "address": address]
    detail["sender"] = sender
    if skipped > 0 { detail["alsoRefused"] = String(skipped) }
    await record(.inboxRefused, detail)
  }

  /// Records that a paired machine has a new certificate, signed with its old key.
  public func rotated(_ name: String, from formerID: PeerID, to id: PeerID) async {
    await record(.identityRotated, ["peer": name, "id": id.hex, "formerId": formerID.hex])
  }

  /// Records an event of the pairing desk. Refusals because of other callers' unfinished attempts are rate-limited by
  /// ``EventRateLimiter``.
  ///
  /// - Returns: whether the event was recorded and should be shown.
  @discardableResult
  public func record(_ event: PairingEvent) async -> Bool {
    switch event {
    case .windowOpened: await record(AuditEvent.Name.windowOpened)
    case .windowClosed(let reason): await record(.windowClosed, ["reason": reason.rawValue])
    // Spelled out, because `.windowLocked` alone would call this method again.
    case .windowLocked: await record(AuditEvent.Name.windowLocked)
    case .codeRotated: break
    case .succeeded(let id, let name, let method):
      await record(.pairingSucceeded, ["peer": name, "id": id.hex, "method": method.rawValue])
    case .failed(let reason, let left):
      await record(.pairingFailed, ["reason": reason.rawValue, "attemptsLeft": String(left)])
    case .keptOut(let caller, let holders):
      guard let skipped = noise.withLock({ $0.admit("keptOut", at: elapsed()) }) else { return false }
      var detail = ["reason": "keptOut", "address": caller, "by": holders.joined(separator: ",")]
      if skipped > 0 { detail["alsoKeptOut"] = String(skipped) }
      await record(.pairingFailed, detail)
    }
    return true
  }
}
