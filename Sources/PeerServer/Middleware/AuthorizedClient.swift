import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

/// The authenticated client of a request, and what it may read.
struct AuthorizedClient: Sendable {
  var id: PeerID
  /// As the peer calls itself: hostile text.
  var name: String
  /// What is kept of the token that the request came with.
  var token: TokenHash
  var filter: SampleFilter
  /// Paired by plain code, as other apps' clients do.
  var isForeign: Bool
}
