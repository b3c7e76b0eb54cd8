import Foundation
import HealthModel
import HealthStore
import PeerProtocol

/// A store's change feed as a server provides it, without the network: its check of tokens, and the pages that
/// follow.
struct Feed: Sendable {
  /// The checks that a server makes. A test omits one to see whether the omission is detected.
  struct Checks: Sendable {
    var epoch = true
    var filter = true
  }

  /// An error for a token that a server rejects with status 410.
  struct Gone: Error {}

  let store: HealthStore
  let wire: Wire
  let filter: SampleFilter
  private let hash: UInt64
  private let seal: ChangeTokenSeal
  private let checks: Checks

  init(of store: HealthStore, over wire: Wire, types: Set<SampleType>?, earliest: Timestamp?, checks: Checks) {
    self.store = store
    self.wire = wire
    self.checks = checks
    filter = SampleFilter(types: types, earliest: earliest)
    hash = ChangeToken.filterHash(filter)
    seal = ChangeTokenSeal(key: store.positionKey)
  }

  /// Returns the first page of a request.
  ///
  /// - Throws: ``Gone`` if the token is rejected.
  func page(after text: String?, limit: Int) async throws -> Wire.Page {
    var position: (anchor: Anchor, epoch: Epoch?) = (.zero, nil)
    if let text {
      let token: ChangeToken
      do throws(ChangeTokenError) {
        token = try seal.token(in: text)
      } catch {
        guard error == .foreign else { throw Failure("\(text) is no token") }
        throw Gone()
      }
      guard token.filter == hash || !checks.filter else { throw Gone() }
      position = (Anchor(change: token.change), Epoch(id: token.epoch))
    }
    return try await page(after: position.anchor, position.epoch, limit: limit)
  }

  /// Returns a later page of a request.
  ///
  /// - Throws: ``Gone`` if a server would end the answer with an error.
  func page(after page: Wire.Page, limit: Int) async throws -> Wire.Page {
    try await self.page(after: page.anchor, page.epoch, limit: limit)
  }

  /// Returns the token at the end of the feed.
  func lastToken() async throws -> String {
    let anchor = try await store.feed.currentAnchor()
    let page = try await store.feed.changes(since: anchor, limit: 1)
    return try text(page.anchor, page.epoch)
  }

  private func page(after anchor: Anchor, _ epoch: Epoch?, limit: Int) async throws -> Wire.Page {
    let query = Wire.Query(
      anchor: anchor, epoch: checks.epoch ? epoch : nil, filter: filter, limit: limit, token: text)
    do {
      return try await wire.read(store, query)
    } catch StoreError.anchorOutOfRange {
      throw Gone()
    }
  }

  @Sendable private func text(_ anchor: Anchor, _ epoch: Epoch) throws -> String {
    seal.text(of: ChangeToken(change: anchor.change, epoch: epoch.id, filter: hash))
  }
}
