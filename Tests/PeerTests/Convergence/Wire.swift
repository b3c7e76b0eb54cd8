import HealthModel
import HealthStore
import PeerProtocol

/// How changes travel from one store into another: as bytes.
struct Wire: Sendable {
  /// A page of a feed as it is sent.
  struct Page: Sendable {
    var bytes: [UInt8]
    var anchor: Anchor
    var epoch: Epoch
    var isLast: Bool
  }

  /// What a page of a feed is asked with.
  struct Query: Sendable {
    var anchor: Anchor
    var epoch: Epoch?
    var filter: ChangeFilter
    var limit: Int
    /// The token after a page.
    var token: @Sendable (Anchor, Epoch) throws -> String
  }

  /// What became of a page.
  struct Receipt: Sendable {
    var summary: WriteSummary
    var token: String
    var more: Bool
  }

  var name: String
  /// Reads a page of a store's feed.
  var read: @Sendable (HealthStore, Query) async throws -> Page
  /// Applies a page, and the token that follows it, in one transaction.
  var commit: @Sendable (_ bytes: [UInt8], HealthStore, _ consumer: String) async throws -> Receipt
}

extension Wire {
  /// All that a server speaks.
  static let all = [ndjson]

  /// Changes of a page and the token after them, decoded.
  struct Delivery: Sendable {
    var batch = ChangeBatch()
    var token: String
    var more: Bool
  }

  /// A wire that carries what ``HealthStore/changes(since:epoch:filter:limit:)`` returns.
  init(
    _ name: String, encode: @escaping @Sendable (ChangePage, _ token: String) throws -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) throws -> Delivery
  ) {
    self.init(
      name: name,
      read: { store, query in
        let page = try await store.changes(
          since: query.anchor, epoch: query.epoch, filter: query.filter, limit: query.limit)
        let token = try query.token(page.anchor, page.epoch)
        return Page(
          bytes: try encode(page, token), anchor: page.anchor, epoch: page.epoch, isLast: page.isLast)
      },
      commit: { bytes, store, consumer in
        let delivery = try decode(bytes)
        let summary = try await store.apply(delivery.batch, position: (consumer, delivery.token))
        return Receipt(summary: summary, token: delivery.token, more: delivery.more)
      })
  }

  /// `application/x-ndjson`.
  static let ndjson = Wire("NDJSON") { page, token in
    let encoder = ChangeLineEncoder()
    var bytes: [UInt8] = []
    for change in page.changes {
      switch change {
      case .added(let sample): try encoder.encode(.added(sample), into: &bytes)
      case .deleted(let tombstone): try encoder.encode(.deleted(tombstone), into: &bytes)
      }
    }
    try encoder.encode(.token(token, more: !page.isLast), into: &bytes)
    return bytes
  } decode: { bytes in
    var decoder = ChangeLineDecoder()
    var batch = ChangeBatch()
    for line in try bytes.withUnsafeBytes({ try decoder.decode($0) }) {
      switch line {
      case .added(let sample): batch.additions.append(sample)
      case .deleted(let tombstone): batch.deletions.append(tombstone)
      case .token(let token, let more): return Delivery(batch: batch, token: token, more: more)
      case .error(let message): throw Failure(message)
      }
    }
    throw Failure("no token")
  }
}
