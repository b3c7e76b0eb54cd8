import HealthModel
import HealthStore
import PeerProtocol

/// A format in which changes are transferred from store to store as bytes.
struct Wire: Sendable {
  /// A page of a feed in its transferred form.
  struct Page: Sendable {
    var bytes: [UInt8]
    var anchor: Anchor
    var epoch: Epoch
    var isLast: Bool
  }

  /// The parameters of a request for a page.
  struct Query: Sendable {
    var anchor: Anchor
    var epoch: Epoch?
    var filter: SampleFilter
    var limit: Int
    /// A closure that returns the token after a page.
    var token: @Sendable (Anchor, Epoch) throws -> String
  }

  /// The result of applying a page.
  struct Receipt: Sendable {
    var summary: WriteSummary
    var token: String
    var more: Bool
  }

  var name: String
  /// A closure that reads a page of a store's feed.
  var read: @Sendable (HealthStore, Query) async throws -> Page
  /// A closure that applies a page and its token in a single transaction.
  var commit: @Sendable (_ bytes: [UInt8], HealthStore, _ consumer: String) async throws -> Receipt
}

extension Wire {
  /// All formats that a server supports.
  static let all = [columns, ndjson]
  static let columns = Wire(.columns)
  static let ndjson = Wire(.lines)

  init(_ format: ChangeFeedFormat) {
    self.init(
      name: format.rawValue,
      read: { store, query in
        let page = try await store.feed.codedChanges(
          since: query.anchor, epoch: query.epoch, filter: query.filter, limit: query.limit)
        let batch = ChangeFeedBatch(
          changes: page.changes, token: try query.token(page.anchor, page.epoch), more: !page.isLast)
        return Page(
          bytes: try ChangeFeedEncoder(format).encode(batch), anchor: page.anchor, epoch: page.epoch,
          isLast: page.isLast)
      },
      commit: { bytes, store, consumer in
        var decoder = ChangeFeedDecoder(format)
        let batches = try bytes.withUnsafeBytes { try decoder.decode($0) }
        guard let batch = batches.last, batches.count == 1, decoder.isBetweenBatches else {
          throw Failure("\(batches.count) batches")
        }
        let summary = try await store.apply([batch.changes], position: (consumer, batch.token))
        return Receipt(summary: summary, token: batch.token, more: batch.more)
      })
  }
}
