import Hummingbird
import HTTPTypes
import Logging
import PeerProtocol
import PeerTrust
import Synchronization

/// Notices that a client's identity is used by two machines, and says so.
final class MetMachines: Sendable {
  private let registry: PeerRegistry
  private let audit: AuditTrail
  private let logger: Logger
  /// Of each client, as it was met last.
  private let last = Mutex<[PeerID: MachineMark]>([:])

  init(registry: PeerRegistry, audit: AuditTrail, logger: Logger) {
    (self.registry, self.audit, self.logger) = (registry, audit, logger)
  }

  /// Takes note of the machine that asks. What cannot be noted keeps nobody from being answered.
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
