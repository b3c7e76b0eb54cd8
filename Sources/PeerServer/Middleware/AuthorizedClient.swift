import HealthModel
import HealthStore
import PeerProtocol

/// Whose request it is, and what that peer may see.
struct AuthorizedClient: Sendable {
  var id: PeerID
  /// As the peer calls itself: hostile text.
  var name: String
  var filter: ChangeFilter
  /// Paired by plain code, as other apps' clients do.
  var isForeign: Bool
}
