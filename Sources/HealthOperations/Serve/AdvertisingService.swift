import Foundation
import OperatingSystem
import PeerDiscovery
import PeerProtocol
import PeerServer
import PeerTrust
import ServiceLifecycle
import Synchronization

/// A service that announces the server through Avahi, with the state of the pairing window in the TXT record.
struct AdvertisingService: Service {
  private let ports: AsyncStream<Int>
  private let name: String
  private let id: PeerID
  private let events: AsyncStream<PairingEvent>
  private let address: ServedAddress
  private let tell: ServeOperation.Listener

  /// Creates the service.
  ///
  /// - Parameter address: receives the registered name, which may differ after a conflict.
  init(
    ports: AsyncStream<Int>, name: String, id: PeerID, events: PairingEvents, address: ServedAddress,
    tell: @escaping ServeOperation.Listener
  ) {
    self.ports = ports
    self.name = name
    self.id = id
    self.events = events.listen()
    self.address = address
    self.tell = tell
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      guard let port = await ports.first(where: { _ in true }) else { return }
      do {
        let advertiser = try ServiceAdvertiser(name: name, port: UInt16(port), txt: txt(open: false))
        await withTaskGroup { group in
          group.addTask { await follow(advertiser) }
          group.addTask { await report(advertiser) }
          do {
            try await advertiser.run()
          } catch {
            await tell(.notAdvertised(error))
          }
          // The advertiser's events end with it, but the pairing events do not.
          await group.next()
          group.cancelAll()
        }
      } catch {
        await tell(.notAdvertised(error))
      }
    }
    // A machine that cannot be announced still serves those who know its address.
    try? await gracefulShutdown()
  }

  /// Returns the TXT record. It names no person, because others on the network can read it.
  private func txt(open: Bool) -> [(key: String, value: String)] {
    [("v", "1"), ("id", id.hex), ("pair", open ? "1" : "0")]
  }

  private func follow(_ advertiser: ServiceAdvertiser) async {
    for await event in events {
      switch event {
      case .windowOpened: try? advertiser.update(txt: txt(open: true))
      case .windowClosed, .windowLocked: try? advertiser.update(txt: txt(open: false))
      case .codeRotated, .succeeded, .failed, .keptOut: break
      }
    }
  }

  private func report(_ advertiser: ServiceAdvertiser) async {
    for await event in advertiser.events {
      switch event {
      case .published(let name), .renamed(_, let name): address.isAnnounced(as: name)
      case .daemonUnavailable: break
      }
      await tell(.advertising(event))
    }
  }
}

/// The address and the announced name of a server.
final class ServedAddress: Sendable {
  private let host: String?
  private let fingerprint: Fingerprint
  private let port = Mutex(0)
  private let announced: Mutex<String?>

  /// Creates an address whose port is not known yet.
  ///
  /// - Parameters:
  ///   - host: the address that the server is bound to; `nil` for all.
  ///   - name: the name to announce; `nil` for none.
  init(host: String?, fingerprint: Fingerprint, name: String?) {
    self.host = host
    self.fingerprint = fingerprint
    announced = Mutex(name)
  }

  func listens(on port: Int) { self.port.withLock { $0 = port } }

  func isAnnounced(as name: String) { announced.withLock { $0 = name } }

  /// The announced name, which differs from the requested one after a conflict; `nil` if the server is not announced.
  var name: String? { announced.withLock(\.self) }

  var addresses: [String] {
    if let host, host != "0.0.0.0", host != "::" { return [host] }
    return LocalAddress.all()
  }

  /// Returns the content of the QR code that another machine needs to pair.
  func payload(_ code: PairingCode, _ expiry: Date) throws -> PairingPayload {
    try PairingPayload(
      host: addresses.first ?? "\(Hostname.short).local", port: UInt16(clamping: port.withLock { $0 }),
      fingerprint: fingerprint, code: code, expiry: expiry)
  }
}
