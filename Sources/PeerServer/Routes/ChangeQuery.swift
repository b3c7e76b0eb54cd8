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
  /// What the caller may know of each sample: what it asks for less than it may see takes nothing away from them.
  var cut: SampleCut
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
    cut = scope.cut
    hash = filter.tokenHash(scope: scope)
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

extension ChangeFilter {
  /// What change tokens name it by.
  ///
  /// - Parameter scope: what its reader may see, of which it is a part.
  func tokenHash(scope: ChangeFilter) -> UInt64 {
    ChangeToken.filterHash(
      types: types.map { $0.map(\.rawValue) }, earliest: earliest?.microseconds,
      scope: types == scope.types ? nil : scope.types.map { $0.map(\.rawValue) })
  }
}
