import Foundation
import HealthStore
import OperatingSystem
import PeerProtocol
import PeerServer
import PeerTrust
import ServiceLifecycle
import Synchronization
import Terminal

/// The person's side of a running server: shows the code, takes `n`, and writes what the pairing desk does into the audit log.
final class DisplayService: Service {
  private let ports: AsyncStream<Int>
  private let desk: PairingDesk
  private let events: AsyncStream<PairingEvent>
  private let audit: AuditTrail
  private let store: HealthStore
  private let identity: PeerIdentity
  private let name: String
  private let announced: String?
  private let host: String?
  private let presentation: ServePresentation
  private let port = Mutex(0)

  /// - Parameter announced: what this machine can be found as; `nil` if it is not announced.
  init(
    ports: AsyncStream<Int>, desk: PairingDesk, events: PairingEvents, audit: AuditTrail, store: HealthStore,
    identity: PeerIdentity, name: String, announced: String?, host: String?, presentation: ServePresentation
  ) {
    self.ports = ports
    self.desk = desk
    self.events = events.listen()
    self.audit = audit
    self.store = store
    self.identity = identity
    self.name = name
    self.announced = announced
    self.host = host
    self.presentation = presentation
  }

  func run() async throws {
    try await cancelWhenGracefulShutdown { [self] in
      guard let port = await ports.first(where: { _ in true }) else { return }
      self.port.withLock { $0 = port }
      let addresses = addresses
      presentation.started(
        name: name, port: port, addresses: addresses.isEmpty ? LocalAddress.linkLocal() : addresses,
        counts: try await store.typeCounts(), fingerprint: identity.fingerprint)
      await withTaskGroup { group in
        group.addTask { await self.report() }
        if presentation.interactive { group.addTask { await self.takeLines() } }
        if presentation.interactive { group.addTask { await self.openWindow() } }
      }
    }
    // Others in the group are still at work: this service must not be the first to end.
    try? await gracefulShutdown()
  }

  /// What another machine needs to pair.
  func payload(_ code: PairingCode, _ expiry: Date) throws -> PairingPayload {
    try PairingPayload(
      host: addresses.first ?? "\(Hostname.short).local", port: UInt16(clamping: port.withLock { $0 }),
      fingerprint: identity.fingerprint, code: code, expiry: expiry)
  }

  /// Where others reach this machine, whatever their interfaces are called.
  private var addresses: [String] {
    if let host, host != "0.0.0.0", host != "::" { return [host] }
    return LocalAddress.all()
  }

  private func report() async {
    for await event in events {
      if await audit.record(event) { presentation.event(event) }
      switch event {
      case .windowOpened, .codeRotated: await showCode()
      default: break
      }
    }
  }

  private func showCode() async {
    let status = await desk.status()
    guard case .open(let expiresAt, _) = status.window, let code = await desk.currentCode else { return }
    // A damaged store that cannot say whose it is still serves what can be read.
    let person = try? await store.person()
    do {
      presentation.code(
        code, payload: try payload(code, expiresAt), expiresAt: expiresAt, scope: status.scope, announced: announced,
        owner: person.flatMap(PersonText.owner))
    } catch {
      Console.warn("the code cannot be shown: \(error)")
    }
  }

  private func takeLines() async {
    for await line in LineReader() where line.trimmingCharacters(in: .whitespaces).lowercased() == "n" {
      await openWindow()
    }
  }

  private func openWindow() async {
    do {
      _ = try await desk.open(scope: presentation.scope)
    } catch {
      Console.warn("\(error)")
    }
  }
}
