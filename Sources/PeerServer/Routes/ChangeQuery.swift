import HealthModel
import HealthStore
import Hummingbird
import PeerProtocol

/// The query of a change request, checked.
struct ChangeQuery {
  var since: Anchor
  /// Of ``since``; `nil` for the beginning, which every epoch has.
  var epoch: Epoch?
  var filter: ChangeFilter
  var hash: UInt64
  var limit: Int

  init(_ parameters: Parameters, scope: ChangeFilter, seal: ChangeTokenSeal) throws {
    let selection: ChangeSelection
    do throws(ChangeSelectionError) {
      selection = try ChangeSelection(types: parameters["types"], limit: parameters["limit"])
    } catch {
      throw ServerFailure.badRequest(error.description)
    }
    var wanted = ChangeFilter.everything
    wanted.types = selection.types
    filter = wanted.intersection(scope)
    hash = ChangeToken.filterHash(
      types: filter.types.map { $0.map(\.rawValue) }, earliest: filter.earliest?.microseconds)
    limit = selection.limit
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
