import PeerDiscovery
import PeerProtocol
import PeerServer
import PeerTrust
import ServiceLifecycle
import Terminal

/// Announces the server through Avahi while it runs, and says in the TXT record whether a pairing window is open.
struct AdvertisingService: Service {
  private let ports: AsyncStream<Int>
  private let name: String
  private let id: PeerID
  private let desk: PairingDesk
  private let events: AsyncStream<PairingEvent>
  private let presentation: ServePresentation

  init(
    ports: AsyncStream<Int>, name: String, id: PeerID, desk: PairingDesk, events: PairingEvents,
    presentation: ServePresentation
  ) {
    self.ports = ports
    self.name = name
    self.id = id
    self.desk = desk
    self.events = events.listen()
    self.presentation = presentation
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
            presentation.advertising("Not announced: \(error)")
          }
          // Its events end with it; the desk's do not.
          await group.next()
          group.cancelAll()
        }
      } catch {
        presentation.advertising("Not announced: \(error)")
      }
    }
    // A machine that cannot be announced still serves those who know its address.
    try? await gracefulShutdown()
  }

  /// Nothing here names a person: others on the network read it.
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
      case .published(let name): presentation.advertising("Announced on this network as \(PlainText.escaped(name)).")
      case .renamed(let from, let to):
        presentation.advertising(
          "Another machine is called \(PlainText.escaped(from)) already, so this one is announced as \(PlainText.escaped(to))."
        )
      case .daemonUnavailable(let error): presentation.advertising("Not announced: \(error)")
      }
    }
  }
}
