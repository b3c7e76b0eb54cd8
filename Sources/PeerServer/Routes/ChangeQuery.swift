import HealthModel
import HealthStore
import Hummingbird
import PeerProtocol

/// The validated query of a change request.
struct ChangeQuery {
  var since: Anchor
  /// The epoch of ``since``; `nil` for the beginning, which is valid in every epoch.
  var epoch: Epoch?
  var filter: SampleFilter
  /// The ``ClientScope/cut`` of the caller.
  var cut: SampleRedaction
  var hash: UInt64
  var limit: Int

  init(_ parameters: Parameters, scope: ClientScope, seal: ChangeTokenSeal) throws {
    do throws(QueryFieldError) {
      let asked = SampleFilter(
        types: try QueryField.types(parameters["types"]),
        sources: try QueryField.sources(parameters.getAll("source")))
      filter = scope.applied(to: asked)
      limit = try QueryField.limit(parameters["limit"])
    } catch {
      throw ServerFailure.badRequest(error.description)
    }
    cut = scope.cut
    hash = scope.tokenHash(filter)
    since = .zero
    if let text = parameters["since"], !text.isEmpty {
      let token: ChangeToken
      do throws(ChangeTokenError) {
        token = try seal.token(in: String(text))
      } catch {
        throw error == .malformed ? ServerFailure.badRequest("'since' is not a change token") : .tokenGone
      }
      guard token.filter == hash else { throw ServerFailure.tokenGone }
      since = Anchor(change: token.change)
      epoch = Epoch(id: token.epoch)
    }
  }
}
