import HealthOperations
import HealthStore
import OperatingSystem
import PeerServer

extension ServiceReporting {
  /// Reports to the service manager that started this process; `nil` where none waits to hear.
  ///
  /// - Parameters:
  ///   - serves: whether it is ready only when it says so, because something listens then.
  ///   - status: of one that does not serve.
  static func ofProcess(
    home: Home, store: HealthStore, serves: Bool, status: String = ""
  ) -> ServiceReporting? {
    guard let manager = ServiceManager() else { return nil }
    return ServiceReporting(manager, readyAtOnce: serves ? nil : status) {
      _ = try? await store.feed.currentAnchor()
      // Through the event loops, and the pairing desk.
      if serves { _ = try? await ControlClient.state(at: home.socketPath) }
    }
  }
}
