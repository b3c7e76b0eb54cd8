import HealthModel
import HealthStore
import PeerClient
import PeerTrust
import Terminal

/// Compares with one server, and writes down that it did.
struct Verifier {
  let store: HealthStore
  let registry: PeerRegistry
  let finder: PeerFinder
  let identity: PeerIdentity
  let types: [SampleType]
  let isDeep: Bool
  /// Seconds without a byte after which the other machine counts as gone.
  let timeout: Int

  func verify(_ server: ServerRecord, endpoints: [PeerEndpoint]) async throws -> Verification {
    let bar = ProgressBar(
      label: PlainText.escaped(server.name, limit: 20), totalItems: nil, capabilities: Console.capabilities)
    defer { bar.finish() }
    do {
      let (verification, endpoint) = try await interruptible("the comparison was not finished, and changes nothing.") {
        try await finder.reach(server, endpoints: endpoints) { endpoint in
          try await Verify(
            store, with: server, at: endpoint, identity: identity, types: types, isDeep: isDeep, silenceLimit: timeout
          ).run { progress in
            bar.setTotal(items: progress.total)
            bar.update(items: progress.samples, bytes: 0)
          }
        }
      }
      try await registry.updateServer(id: server.id, host: endpoint.host, port: UInt16(endpoint.port))
      try await record(
        .verifyFinished, server,
        [
          "equal": String(verification.isEqual), "samples": String(verification.here.samples.count),
          "differences": String(verification.differences.count), "deep": String(isDeep),
        ])
      return verification
    } catch {
      try await record(.verifyFailed, server, ["reason": (error as? PeerError)?.auditReason ?? "other"])
      throw error
    }
  }

  private func record(
    _ name: AuditEvent.Name, _ server: ServerRecord, _ detail: [String: String]
  ) async throws {
    let who = ["peer": server.name, "id": server.id.hex]
    try await store.record(AuditEvent(name, detail.merging(who) { $1 }))
  }
}
