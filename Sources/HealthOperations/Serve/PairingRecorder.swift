import HealthStore
import OperatingSystem
import PeerServer
import PeerTrust
import ServiceLifecycle

/// A service that records the pairing desk's events in the audit log and then reports them to the listener.
struct PairingRecorder: Service {
  private let ports: AsyncStream<Int>
  private let desk: PairingCoordinator
  private let events: AsyncStream<PairingEvent>
  private let audit: AuditTrail
  private let store: HealthStore
  private let address: ServedAddress
  private let tell: ServeOperation.Listener

  init(
    ports: AsyncStream<Int>, desk: PairingCoordinator, events: PairingEvents, audit: AuditTrail, store: HealthStore,
    address: ServedAddress, tell: @escaping ServeOperation.Listener
  ) {
    self.ports = ports
    self.desk = desk
    self.events = events.listen()
    self.audit = audit
    self.store = store
    self.address = address
    self.tell = tell
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      guard let port = await ports.first(where: { _ in true }) else { return }
      address.listens(on: port)
      let addresses = address.addresses
      await tell(
        .listening(
          port: port, addresses: addresses.isEmpty ? LocalAddress.linkLocal() : addresses,
          // If the store is damaged, the rest may still be readable.
          counts: (try? await store.samples.typeCounts()) ?? []))
      for await event in events {
        if await audit.record(event) { await tell(.pairing(event)) }
        switch event {
        case .windowOpened, .codeRotated: await tellCode()
        default: break
        }
      }
    }
    // Other services in the group are still running, so this service must not end first.
    try? await gracefulShutdown()
  }

  private func tellCode() async {
    let status = await desk.status()
    guard case .open(let expiresAt, _) = status.window, let code = await desk.currentCode else { return }
    // A damaged store that cannot name its person still serves what can be read.
    let person = try? await store.person()
    do {
      let payload = try address.payload(code, expiresAt)
      await tell(
        .code(
          WindowCode(
            code: code, payload: payload, expiresAt: expiresAt, scope: status.scope, name: address.name,
            person: person)))
    } catch {
      await tell(.codeUnavailable(error))
    }
  }
}
