import HealthModel
import HealthStore
import Logging
import NIOConcurrencyHelpers
import PeerTrust

/// Writes what the server does into the store's audit log. A log that cannot be written is reported, not hidden.
public struct AuditTrail: Sendable {
  private let store: HealthStore
  private let logger: Logger
  private let noise = NIOLockedValueBox(NoiseGate())
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameter now: for tests.
  public init(
    store: HealthStore, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.store = store
    self.logger = logger
    self.now = now
  }

  public func record(_ name: AuditEvent.Name, _ detail: [String: String] = [:]) async {
    let event = AuditEvent(name, detail)
    // Not a child of the caller's task: what was done is written down even if the caller is cancelled.
    await Task { [store, logger] in
      do {
        try await store.record(event)
      } catch {
        logger.error("the audit log cannot be written: \(error)")
      }
    }.value
  }

  func listed(_ client: AuthorizedClient, types: Int) async {
    await record(.typesListed, ["peer": client.name, "id": client.id.hex, "types": String(types)])
  }

  func read(_ client: AuthorizedClient, _ query: ChangeQuery, count: Int, upTo anchor: Anchor, complete: Bool) async {
    var detail = [
      "peer": client.name, "id": client.id.hex, "count": String(count), "from": String(query.since.change),
      "to": String(anchor.change), "complete": String(complete),
    ]
    if let types = query.filter.types { detail["types"] = types.map(\.shortName).sorted().joined(separator: ",") }
    if let earliest = query.filter.earliest { detail["earliest"] = earliest.iso8601 }
    await record(.dataRead, detail)
  }

  func read(_ client: AuthorizedClient, type: SampleType, offset: Int, count: Int) async {
    await record(
      .dataRead,
      [
        "peer": client.name, "id": client.id.hex, "types": type.shortName, "count": String(count),
        "offset": String(offset),
      ])
  }

  /// A caller without a valid token. Written as ``NoiseGate`` has it, with the number that went unwritten.
  func refused(_ reason: String, address: String) async {
    let instant = now()
    guard let skipped = noise.withLockedValue({ $0.admit(reason, at: instant) }) else { return }
    var detail = ["reason": reason, "address": address]
    if skipped > 0 { detail["alsoRefused"] = String(skipped) }
    await record(.tokenRefused, detail)
  }

  /// What the pairing desk reports.
  public func record(_ event: PairingEvent) async {
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
    }
  }
}
