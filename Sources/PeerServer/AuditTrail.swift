import HealthModel
import HealthStore
import Logging
import OperatingSystem
import PeerProtocol
import PeerTrust
import ServiceLifecycle
import Synchronization

/// Writes what the server does into the store's audit log. A log that cannot be written is reported, not hidden, and
/// nothing is read that it does not hold: what is about to be sent is written down first.
///
/// Reads are counted by the minute (``AuditRead``), so that whoever may read cannot fill the disk by it.
public final class AuditTrail: Sendable {
  private let store: HealthStore
  private let logger: Logger
  private let noise = Mutex(EventRateLimiter())
  /// Rate limiters of refusals in the log, one for each inbox sender, by the sender's name. All requests without a known
  /// secret share one, under the empty name.
  private let inboxNoise = Mutex<[String: EventRateLimiter]>([:])
  private let clock: any Clock<Duration>
  /// Since this trail began.
  private let elapsed: @Sendable () -> Duration
  private let minute: Duration
  /// Names this trail's clock; see ``AuditRead/Moment``.
  private let session = Int64.random(in: 1...Int64.max)
  /// A signal that a read was counted, so that ``sealMinutes()`` runs only when there is something to seal.
  private let counting: (begun: AsyncStream<Void>, begin: AsyncStream<Void>.Continuation)

  /// - Parameters:
  ///   - minute: how long the reads of a peer are counted as one event.
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

  /// Puts what was counted into the log when its minute is over, until the task is cancelled or the service shuts down.
  /// To be run once.
  func sealMinutes() async {
    guard minute > .zero else { return }
    await cancelWhenGracefulShutdown { [self] in
      for await _ in counting.begun {
        try? await clock.sleep(for: minute)
        if Task.isCancelled { return }
        do {
          try await store.audit.sealReads(overAt: moment)
        } catch {
          // What is counted stays, and the next event takes it along.
          logger.error("the audit log cannot be written: \(error)")
        }
      }
    }
  }

  private var moment: AuditRead.Moment {
    AuditRead.Moment(
      session: session, elapsed: Int64(elapsed() / .milliseconds(1)), minute: Int64(minute / .milliseconds(1)))
  }

  /// Writes down what has happened already. A log that cannot be written is reported to the logger, and nothing thrown.
  public func record(_ name: AuditEvent.Name, _ detail: [String: String] = [:]) async {
    do {
      try await require(name, detail)
    } catch {
      logger.error("the audit log cannot be written: \(error)")
    }
  }

  /// Writes down what must not happen unseen. Throws ``StoreError`` where it cannot: the request is refused then.
  private func require(_ name: AuditEvent.Name, _ detail: [String: String]) async throws {
    try await uncancelled { [store] in try await store.audit.record(AuditEvent(name, detail)) }
  }

  /// The same of what a peer reads.
  ///
  /// - Parameters:
  ///   - kind: what must be equal for two reads of this name to be counted together.
  ///   - position: up to where; what was taken back meanwhile must not be sent. `nil` for what has been sent.
  ///   - anchor: up to where it reads anything.
  private func requireRead(
    _ name: AuditEvent.Name, by client: AuthorizedClient, kind: String = "", _ detail: [String: String],
    at position: (anchor: Anchor, epoch: Epoch)? = nil, read anchor: Anchor? = nil
  ) async throws {
    let detail = detail.merging(["peer": client.name, "id": client.id.hex]) { $1 }
    let read = AuditRead(AuditEvent(name, detail), by: client.id.hex, kind: kind, at: moment)
    try await uncancelled { [store] in try await store.audit.record(read, at: position, read: anchor) }
    counting.begin.yield()
  }

  /// Records a status request, before the caller is told how many types it may read.
  func toldStatus(_ client: AuthorizedClient, types: Int) async throws {
    try await requireRead(.statusRead, by: client, ["types": String(types)])
  }

  func listed(_ client: AuthorizedClient, types: Int) async throws {
    try await requireRead(.typesListed, by: client, ["types": String(types)])
  }

  /// Before the first byte of a feed is sent: one page is written down whole, more of them as begun. Throws
  /// ``StoreError/anchorOutOfRange`` for a page that is not of the store any more.
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

  /// Before a connection's first request that waits: what it is sent is written down as it is read, waiting is not.
  func follows(_ client: AuthorizedClient, _ query: ChangeQuery) async throws {
    try await requireRead(.followStarted, by: client, Self.detail(query))
  }

  /// Records how much of a streamed feed was sent, after its last byte; ``begin(_:_:_:isWhole:)`` recorded its start.
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

  /// - Parameter position: of the store before the samples were read.
  func read(
    _ client: AuthorizedClient, type: SampleType, offset: Int, count: Int, at position: (anchor: Anchor, epoch: Epoch)
  ) async throws {
    try await requireRead(
      .dataRead, by: client, ["types": type.shortName, "count": String(count), "offset": String(offset)], at: position,
      read: count > 0 ? position.anchor : nil)
  }

  /// Records a digest request, before the digest, or the refusal of one that is too large, is sent.
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

  /// Records a question for numbers, before they are sent.
  func counted(_ client: AuthorizedClient, _ question: StatisticsQuestion) async throws {
    var detail = ["types": question.types.map(\.shortName).sorted().joined(separator: ",")]
    detail["bucket"] = question.size.rawValue
    detail["zone"] = question.zone.name
    detail["from"] = question.from
    detail["to"] = question.to
    detail["sources"] = SampleFilter(sources: question.sources).sourceList
    try await requireRead(.statisticsRead, by: client, kind: " \(question.size.rawValue)", detail)
  }

  /// Before a caller is told what is known of its pairing.
  ///
  /// - Parameter outcome: of trying to reach it; `nil` where it is not pulled from.
  func viewed(_ client: AuthorizedClient, address: String, way outcome: PairingView.Outcome?) async throws {
    var detail = ["address": address]
    detail["reached"] = outcome?.rawValue
    // One of a handful of values; the address of the first is written.
    try await requireRead(.pairingRead, by: client, kind: outcome.map { " \($0.rawValue)" } ?? "", detail)
  }

  /// Before a caller is told whether both records are of one person.
  ///
  /// - Parameter claims: how many different persons it has claimed, this one counted.
  func compared(_ client: AuthorizedClient, _ verdict: PersonAnswer.Verdict, claims: Int) async throws {
    // Both have a handful of values only.
    try await requireRead(
      .personCompared, by: client, kind: " \(verdict.rawValue) \(claims)",
      ["person": verdict.rawValue, "claims": String(claims)])
  }

  /// Records a caller that has claimed too many persons, rate-limited by ``EventRateLimiter``.
  func refusedPerson(of client: AuthorizedClient) async {
    guard let skipped = noise.withLock({ $0.admit("person", at: elapsed()) }) else { return }
    var detail = ["peer": client.name, "id": client.id.hex]
    if skipped > 0 { detail["alsoRefused"] = String(skipped) }
    await record(.personRefused, detail)
  }

  /// Records a caller without a valid token, rate-limited by ``EventRateLimiter``, with the number of those left unrecorded.
  ///
  /// - Parameter client: whose token it was, where that is known.
  func refused(_ reason: String, address: String, client: PeerID? = nil) async {
    guard let skipped = noise.withLock({ $0.admit(reason, at: elapsed()) }) else { return }
    var detail = ["reason": reason, "address": address]
    detail["id"] = client?.hex
    if skipped > 0 { detail["alsoRefused"] = String(skipped) }
    await record(.tokenRefused, detail)
  }

  /// Records what the inbox does not take, rate-limited by ``EventRateLimiter`` for each sender and reason.
  ///
  /// - Parameter sender: `nil` where nobody knows whose it is.
  func refusedBody(_ reason: String, of sender: String?, address: String) async {
    let skipped = inboxNoise.withLock { $0[sender ?? "", default: EventRateLimiter()].admit(reason, at: elapsed()) }
    guard let skipped else { return }
    var detail = ["reason": reason, "address": address]
    detail["sender"] = sender
    if skipped > 0 { detail["alsoRefused"] = String(skipped) }
    await record(.inboxRefused, detail)
  }

  /// A paired machine has a new certificate, which its old one has signed.
  public func rotated(_ name: String, from formerID: PeerID, to id: PeerID) async {
    await record(.identityRotated, ["peer": name, "id": id.hex, "formerId": formerID.hex])
  }

  /// What the pairing desk reports. Those who are kept out are written as ``EventRateLimiter`` has it.
  ///
  /// - Returns: whether the event was written, and is to be shown.
  @discardableResult
  public func record(_ event: PairingEvent) async -> Bool {
    switch event {
    case .windowOpened: await record(AuditEvent.Name.windowOpened)
    case .windowClosed(let reason): await record(.windowClosed, ["reason": reason.rawValue])
    // Written out, for `.windowLocked` alone would be the event again.
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
