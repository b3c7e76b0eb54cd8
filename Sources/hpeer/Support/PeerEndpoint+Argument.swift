import ArgumentParser
import PeerClient
import PeerProtocol

extension PeerEndpoint {
  /// What `--host` was given; the default port where it names none.
  init(hostOption text: String) throws {
    guard let endpoint = PeerEndpoint(text, defaultPort: Route.defaultPort) else {
      throw ValidationError("--host takes HOST or HOST:PORT.")
    }
    self = endpoint
  }
}
