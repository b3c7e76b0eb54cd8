import Hummingbird
import HTTPTypes
import Logging
import PeerProtocol
import PeerTrust
import Synchronization

/// A detector of two machines that use the same client identity. It warns in the log and the audit log.
final class TwinDetector: Sendable {
  private let registry: PeerRegistry
  private let audit: AuditTrail
  private let logger: Logger
  /// The machine mark each client sent in its most recent request.
  private let last = Mutex<[PeerID: MachineMark]>([:])

  init(registry: PeerRegistry, audit: AuditTrail, logger: Logger) {
    (self.registry, self.audit, self.logger) = (registry, audit, logger)
  }

  /// Records the machine mark of a request. A failure to record it does not stop the answer.
  func meet(_ client: AuthorizedClient, _ request: Request, at address: String) async {
    guard let field = Self.field, let mark = request.headers[field].flatMap({ MachineMark(text: $0) }) else { return }
    guard last.withLock({ $0.updateValue(mark, forKey: client.id) != mark }) else { return }
    do {
      guard let twins = try await registry.note(mark, of: client.id, as: .client, at: address) else { return }
      logger.warning("two machines use the identity of a client", metadata: ["id": "\(client.id.hex)"])
      await audit.record(
        .peerTwins,
        [
          "peer": client.name, "id": client.id.hex, "role": "client",
          "address": twins.addresses.joined(separator: ", "),
        ])
    } catch {
      logger.error("it cannot be noted which machine a client is: \(error)")
    }
  }

  private static let field = HTTPField.Name(MachineMark.header)
}
