import Foundation
import HealthModel
import HealthOperations
import HealthStore
import Logging
import OperatingSystem
import PeerServer
import PeerTrust
import ServiceLifecycle

/// The services that serve a record, with or without a person at a terminal.
struct Serving {
  let home: Home
  let local: LocalPeer
  let options: ServingOptions
  /// The scope of a machine that pairs in a window opened here; `nil` for its previous scope, or everything.
  var scope: SampleFilter?
  var showsQR = true
  var pairingJSON = false
  /// The zone in which dates are shown.
  let zone: TimeZone
  let logger: Logger
  /// A closure that is called with the port when connections are accepted.
  var onListening: @Sendable (Int) async -> Void = { _ in }

  /// Returns the services.
  ///
  /// - Parameter lock: The proof that nothing else serves this home, to be released after the services.
  func services(holding lock: ServeLock) async throws -> [ServiceGroupConfiguration.ServiceConfiguration] {
    let servingLock = ServingLock(local.registry, auditedIn: local.store)
    if options.locked { _ = try await servingLock.lock() }
    if options.now { try await servingLock.endRestoration() }
    if let restoration = try await servingLock.restoration() {
      RestorationText.sayWaiting(restoration)
    } else if try await servingLock.since != nil {
      Console.warn(
        "this machine is locked: paired machines get no answer until `hpeer unlock`.", JournalFields(.serverLocked))
    }
    let isInteractive = Console.isInteractive
    let presentation = ServePresentation(
      name: local.name, fingerprint: local.identity.fingerprint, interactive: isInteractive, showQR: showsQR,
      pairingJSON: pairingJSON, zone: zone)
    let (listening, listens) = AsyncStream.makeStream(of: Void.self)
    let operation = try await ServeOperation(home, local, options.settings, holding: lock, logger: logger) {
      [onListening] event in
      presentation.tell(event)
      guard case .listening(let port, _, _) = event else { return }
      listens.yield()
      await onListening(port)
    }
    var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
      .init(service: operation, successTerminationBehavior: .gracefullyShutdownGroup)
    ]
    services += inboxServices
    if isInteractive {
      // The keys are of use only while the server runs.
      services.insert(
        .init(service: WindowKeys(operation: operation, scope: scope, listening: listening)), at: 0)
    }
    return services
  }

  /// The inbox, if one is asked for, even if nothing else is served.
  var inboxServices: [ServiceGroupConfiguration.ServiceConfiguration] {
    guard let inbox = options.inbox.settings(host: options.bind) else { return [] }
    let zones = InboxZoneWatch(tell: InboxPresentation.foreignZone)
    let operation = InboxOperation(home, local, inbox, logger: logger, zones: zones) { port in
      InboxPresentation.listening(inbox, port: port)
    }
    return [.init(service: operation, successTerminationBehavior: .gracefullyShutdownGroup)]
  }
}

extension ServiceReporting {
  /// Returns a service that reports to the service manager that started this process; `nil` if none expects reports.
  ///
  /// - Parameters:
  ///   - serves: Whether readiness is reported later, when something listens.
  ///   - status: The status of a process that does not serve.
  static func ofProcess(
    home: Home, store: HealthStore, serves: Bool, status: String = ""
  ) -> ServiceReporting? {
    guard let manager = ServiceManager() else { return nil }
    return ServiceReporting(manager, readyAtOnce: serves ? nil : status) {
      _ = try? await store.feed.currentAnchor()
      // The request goes through the event loops and the pairing desk, and so tests both.
      if serves { _ = try? await ControlClient.state(at: home.socketPath) }
    }
  }
}
