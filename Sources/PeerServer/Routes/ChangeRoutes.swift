import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import NIOCore
import PeerProtocol
import PeerTrust
import Synchronization

/// The route `GET /api/v2/changes?since&types&limit&wait`: all changes after a change token, streamed in batches,
/// older ones first, in columns or as NDJSON.
///
/// `types` is a comma-separated list of HealthKit identifiers or short names. `limit` ends the stream after about
/// that many changes. `wait` holds the request until there are changes; see ``ChangeWaiting``. Errors: 400 for an
/// invalid query; 410 for a token of another store, filter or history, or of a version no longer accepted; 406 for a
/// client that only accepts columns of another version; 412 if the record is another person's than the client's mark
/// says (``PersonMarks``).
struct ChangeRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.changes, for: .reading, changes)
  ]

  let store: HealthStore
  let audit: AuditTrail
  let persons: PersonMarks
  let waiting: ChangeWaiting
  /// The name that this machine announces.
  private let name: String
  /// The mark that distinguishes this machine from others with the same identity.
  private let mark: MachineMark?
  private let machines: TwinDetector
  /// The number of changes per read transaction and per token.
  private let pageSize: Int
  /// The permits for reading and encoding pages.
  private let semaphore: FairSemaphore
  private let seal: ChangeTokenSeal

  init(
    store: HealthStore, audit: AuditTrail, persons: PersonMarks, waiting: ChangeWaiting, name: String, pageSize: Int,
    semaphore: FairSemaphore, machines: TwinDetector
  ) {
    self.name = name
    self.machines = machines
    mark = MachineMark.own(store.directory)
    self.store = store
    self.audit = audit
    self.persons = persons
    self.waiting = waiting
    self.pageSize = pageSize
    self.semaphore = semaphore
    seal = ChangeTokenSeal(key: store.positionKey)
  }

  @Sendable private func changes(_ request: Request, context: PeerRequestContext) async throws -> Response {
    guard let format = ChangeFeedFormat(accept: request.headers[.accept]) else { throw ServerFailure.otherFeedVersion }
    let (client, query, waits) = try await waiting.forChanges(request, context, seal: seal)
    var headers: HTTPFields = [.contentType: format.rawValue, .cacheControl: "no-store", .vary: "Accept"]
    if let field = HTTPField.Name(PeerName.header) { headers[field] = PeerName.encoded(name) }
    if let field = HTTPField.Name(MachineMark.header) { headers[field] = mark?.text }
    await machines.meet(client, request, at: context.remoteAddress)
    // A HEAD answer contains nothing of the record, so it needs no audit entry.
    if request.method == .head { return Response(status: .ok, headers: headers) }
    let start: CodedChangePage
    do {
      start = try await page(query, format, since: query.since, epoch: query.epoch, taken: 0)
    } catch StoreError.anchorOutOfRange {
      throw ServerFailure.tokenGone
    }
    // Checked after the page was read, because the page must belong to the requested person.
    try await persons.require(request.headers, for: client)
    let isWhole = start.isLast || start.changes.count >= query.limit
    // An answer that cannot be recorded is not sent. A long poll without changes sends no data.
    if !(waits && start.changes.isEmpty) {
      do {
        try await audit.begin(client, query, start, isWhole: isWhole)
      } catch StoreError.anchorOutOfRange {
        throw ServerFailure.tokenGone
      }
    }
    // The page is released once it is sent, so that hundreds of waiting clients do not each hold a sent page besides
    // the next.
    let first = Mutex<EncodedPage?>(try encode(start, query, format))
    let startAnchor = start.anchor
    let body = ResponseBody { writer in
      var served = 0
      var anchor = startAnchor
      var page = first.withLock { $0.take() }
      do {
        while let current = page {
          page = nil
          anchor = current.anchor
          let taken = served + current.count
          // The next page is read and encoded while this one is sent.
          async let next = following(current, query, format, of: client, taken: taken) {
            try await persons.require(request.headers, for: client)
          }
          try await writer.write(current.bytes)
          served = taken
          page = try await next
        }
        try await writer.finish(nil)
      } catch StoreError.anchorOutOfRange where !Task.isCancelled {
        // Old tombstones were purged meanwhile. The client continues from its last token and then learns that the
        // token is gone.
        await audit.read(client, query, count: served, upTo: anchor, complete: false)
        return try await writer.finish(nil)
      } catch is ServerFailure where !Task.isCancelled {
        // The record has become another person's meanwhile. The next request reports that.
        await audit.read(client, query, count: served, upTo: anchor, complete: false)
        return try await writer.finish(nil)
      } catch let error as StoreError where !Task.isCancelled {
        // The status was sent long ago, so the last batch carries the error. The client keeps everything that its
        // tokens cover.
        context.logger.error("store", metadata: ["error": "\(error)"])
        await audit.read(client, query, count: served, upTo: anchor, complete: false)
        try await writer.write(
          ByteBuffer(bytes: try ChangeFeedEncoder(format).encode(error: "The store cannot answer right now.")))
        return try await writer.finish(nil)
      } catch {
        await audit.read(client, query, count: served, upTo: anchor, complete: false)
        throw error
      }
      if !isWhole { await audit.read(client, query, count: served, upTo: anchor, complete: true) }
    }
    if let name = HTTPField.Name(ChangeFeed.expectedHeader) {
      // An empty page is not recorded, so the header must not reveal changes made after it.
      let isEmpty = start.isLast && start.changes.isEmpty
      let expected = isEmpty ? 0 : try await store.feed.expectedChanges(since: query.since, filter: query.filter)
      headers[name] = String(min(expected, query.limit))
    }
    return Response(status: .ok, headers: headers, body: body)
  }

  /// Returns the page after `page`, or nil if there is none or the limit is reached.
  ///
  /// - Parameter check: throws unless the page just read may be sent.
  private func following(
    _ page: EncodedPage, _ query: ChangeQuery, _ format: ChangeFeedFormat, of client: AuthorizedClient, taken: Int,
    check: @Sendable () async throws -> Void
  ) async throws -> EncodedPage? {
    if page.isLast || taken >= query.limit { return nil }
    let permit = try await semaphore.acquire(client.id)
    defer { permit.release() }
    let next = try await self.page(query, format, since: page.anchor, epoch: page.epoch, taken: taken)
    try await check()
    return try encode(next, query, format)
  }

  private func page(
    _ query: ChangeQuery, _ format: ChangeFeedFormat, since: Anchor, epoch: Epoch?, taken: Int
  ) async throws -> CodedChangePage {
    // Lines take ten times as many bytes as columns.
    let size = format == .lines ? min(pageSize, Self.linesPerPage) : pageSize
    return try await store.feed.codedChanges(
      since: since, epoch: epoch, filter: query.filter, cut: query.cut, limit: min(size, query.limit - taken))
  }

  private static let linesPerPage = 2_000

  /// An encoded page of the feed.
  private struct EncodedPage {
    var bytes: ByteBuffer
    var count: Int
    var anchor: Anchor
    var epoch: Epoch
    var isLast: Bool
  }

  private func encode(_ page: CodedChangePage, _ query: ChangeQuery, _ format: ChangeFeedFormat) throws -> EncodedPage {
    let token = ChangeToken(change: page.anchor.change, epoch: page.epoch.id, filter: query.hash)
    let batch = ChangeFeedBatch(changes: page.changes, token: seal.text(of: token), more: !page.isLast)
    return EncodedPage(
      bytes: ByteBuffer(bytes: try ChangeFeedEncoder(format).encode(batch)), count: page.changes.count,
      anchor: page.anchor, epoch: page.epoch, isLast: page.isLast)
  }
}
