import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import PeerProtocol
import PeerTrust

/// `GET /api/v2/changes?since&types&limit&wait`: everything that happened after a change token, oldest first, streamed as
/// NDJSON.
///
/// `types` is a comma-separated list of HealthKit identifiers or short names. `limit` ends the stream after about that
/// many changes. `wait` holds the request until there are any; see ``ChangeWaiting``. 400 for a query that cannot be understood, 410 for a token of another store, filter or past, or of a version
/// that is not taken any more.
struct ChangeRoutes {
  let store: HealthStore
  let audit: AuditTrail
  let waiting: ChangeWaiting
  /// Changes per read transaction and per token.
  private let pageSize: Int
  private let seal: ChangeTokenSeal

  init(store: HealthStore, audit: AuditTrail, waiting: ChangeWaiting, pageSize: Int) {
    self.store = store
    self.audit = audit
    self.waiting = waiting
    self.pageSize = pageSize
    seal = ChangeTokenSeal(key: store.positionKey)
  }

  func add(to router: RouterGroup<PeerRequestContext>) {
    router.get(RouterPath(Route.changes), use: changes)
  }

  @Sendable private func changes(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let (client, query, waits) = try await waiting.forChanges(request, context, seal: seal)
    let start: ChangePage
    do {
      start = try await page(query, since: query.since, epoch: query.epoch, taken: 0)
    } catch StoreError.anchorOutOfRange {
      throw ServerFailure.tokenGone
    }
    let isWhole = start.isLast || start.changes.count >= query.limit
    // What cannot be written down is not sent. HEAD sends nothing, and neither does a wait that was in vain.
    if request.method != .head, !(waits && start.changes.isEmpty) {
      try await audit.begin(client, query, start, isWhole: isWhole)
    }
    // Taken out when it is sent: hundreds of clients that wait must not keep a page each beside the one they wait for.
    let first = NIOLockedValueBox<EncodedPage?>(try encode(start, query: query))
    let startAnchor = start.anchor
    let body = ResponseBody { writer in
      var served = 0
      var anchor = startAnchor
      var page = first.withLockedValue { $0.take() }
      do {
        while let current = page {
          page = nil
          anchor = current.anchor
          try await writer.write(current.bytes)
          served += current.count
          if current.isLast || served >= query.limit { break }
          page = try encode(
            await self.page(query, since: current.anchor, epoch: current.epoch, taken: served), query: query)
        }
        try await writer.finish(nil)
      } catch let error as StoreError where !Task.isCancelled {
        // The status is long gone: the last line says what happened, and the client keeps what its tokens cover.
        context.logger.error("store", metadata: ["error": "\(error)"])
        await audit.read(client, query, count: served, upTo: anchor, complete: false)
        try await writer.write(ByteBuffer(bytes: try Self.encode(.error("The store cannot answer right now."))))
        return try await writer.finish(nil)
      } catch {
        await audit.read(client, query, count: served, upTo: anchor, complete: false)
        throw error
      }
      if !isWhole { await audit.read(client, query, count: served, upTo: anchor, complete: true) }
    }
    var headers: HTTPFields = [.contentType: "application/x-ndjson", .cacheControl: "no-store"]
    if let name = HTTPField.Name(ChangeFeed.expectedHeader) {
      let expected = try await store.expectedChanges(since: query.since, filter: query.filter)
      headers[name] = String(min(expected, query.limit))
    }
    return Response(status: .ok, headers: headers, body: body)
  }

  private func page(_ query: ChangeQuery, since: Anchor, epoch: Epoch?, taken: Int) async throws -> ChangePage {
    try await store.changes(
      since: since, epoch: epoch, filter: query.filter, limit: min(pageSize, query.limit - taken))
  }

  /// A page of the feed as it is sent.
  private struct EncodedPage {
    var bytes: ByteBuffer
    var count: Int
    var anchor: Anchor
    var epoch: Epoch
    var isLast: Bool
  }

  private func encode(_ page: ChangePage, query: ChangeQuery) throws -> EncodedPage {
    let encoder = ChangeLineEncoder()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(page.changes.count * 400 + 100)
    for change in page.changes {
      switch change {
      case .added(let sample): try encoder.encode(.added(sample), into: &bytes)
      case .deleted(let tombstone): try encoder.encode(.deleted(tombstone), into: &bytes)
      }
    }
    let token = ChangeToken(change: page.anchor.change, epoch: page.epoch.id, filter: query.hash)
    try encoder.encode(.token(try seal.text(of: token), more: !page.isLast), into: &bytes)
    return EncodedPage(
      bytes: ByteBuffer(bytes: bytes), count: page.changes.count, anchor: page.anchor, epoch: page.epoch,
      isLast: page.isLast)
  }

  private static func encode(_ line: ChangeLine) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try ChangeLineEncoder().encode(line, into: &bytes)
    return bytes
  }
}
