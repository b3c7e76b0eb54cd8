import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import NIOCore
import PeerProtocol
import PeerTrust
import Synchronization

/// `GET /api/v2/changes?since&types&limit&wait`: everything that happened after a change token, streamed in batches, older
/// ones first: in columns, or as NDJSON for whoever asks for that.
///
/// `types` is a comma-separated list of HealthKit identifiers or short names. `limit` ends the stream after about that
/// many changes. `wait` holds the request until there are any; see ``ChangeWaiting``. 400 for a query that cannot be understood, 410 for a token of another store, filter or past, or of a version
/// that is not taken any more, 406 for a client that takes the columns of another version
/// only, 412 for a mark of another person than the record is of (``PersonMarks``).
struct ChangeRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.changes, for: .reading, changes)
  ]

  let store: HealthStore
  let audit: AuditTrail
  let persons: PersonMarks
  let waiting: ChangeWaiting
  /// What this machine is called.
  private let name: String
  /// Which machine it is, of those that may have its identity.
  private let mark: MachineMark?
  private let machines: MetMachines
  /// Changes per read transaction and per token.
  private let pageSize: Int
  /// Where pages are read and encoded.
  private let semaphore: FairSemaphore
  private let seal: ChangeTokenSeal

  init(
    store: HealthStore, audit: AuditTrail, persons: PersonMarks, waiting: ChangeWaiting, name: String, pageSize: Int,
    semaphore: FairSemaphore, machines: MetMachines
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
    // Nothing of the record, and so no row in the audit log.
    if request.method == .head { return Response(status: .ok, headers: headers) }
    let start: CodedChangePage
    do {
      start = try await page(query, format, since: query.since, epoch: query.epoch, taken: 0)
    } catch StoreError.anchorOutOfRange {
      throw ServerFailure.tokenGone
    }
    // After the page was read: what it holds must be of the person who was asked for.
    try await persons.require(request.headers, for: client)
    let isWhole = start.isLast || start.changes.count >= query.limit
    // What cannot be written down is not sent. A wait that was in vain sends nothing.
    if !(waits && start.changes.isEmpty) {
      do {
        try await audit.begin(client, query, start, isWhole: isWhole)
      } catch StoreError.anchorOutOfRange {
        throw ServerFailure.tokenGone
      }
    }
    // Taken out when it is sent: hundreds of clients that wait must not keep a page each beside the one they wait for.
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
          // Read and encoded while the one before is on its way.
          async let next = following(current, query, format, of: client, taken: taken) {
            try await persons.require(request.headers, for: client)
          }
          try await writer.write(current.bytes)
          served = taken
          page = try await next
        }
        try await writer.finish(nil)
      } catch StoreError.anchorOutOfRange where !Task.isCancelled {
        // Old tombstones were forgotten meanwhile. The client goes on from its last token, and learns that it is gone.
        await audit.read(client, query, count: served, upTo: anchor, complete: false)
        return try await writer.finish(nil)
      } catch is ServerFailure where !Task.isCancelled {
        // The record has become another person's meanwhile, and is asked for no more. The next request says so.
        await audit.read(client, query, count: served, upTo: anchor, complete: false)
        return try await writer.finish(nil)
      } catch let error as StoreError where !Task.isCancelled {
        // The status is long gone: the last batch says what happened, and the client keeps what its tokens cover.
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
      // What came after a page that is not on record, for it holds nothing, must not show.
      let isEmpty = start.isLast && start.changes.isEmpty
      let expected = isEmpty ? 0 : try await store.feed.expectedChanges(since: query.since, filter: query.filter)
      headers[name] = String(min(expected, query.limit))
    }
    return Response(status: .ok, headers: headers, body: body)
  }

  /// The page after `page`, if there is one and it was asked for.
  ///
  /// - Parameter check: throws unless what has just been read may be sent.
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
    // Lines are ten times as long.
    let size = format == .lines ? min(pageSize, Self.linesPerPage) : pageSize
    return try await store.feed.codedChanges(
      since: since, epoch: epoch, filter: query.filter, cut: query.cut, limit: min(size, query.limit - taken))
  }

  private static let linesPerPage = 2_000

  /// A page of the feed as it is sent.
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
