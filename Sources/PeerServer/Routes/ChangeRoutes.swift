import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import NIOCore
import PeerProtocol
import PeerTrust

/// `GET /api/v2/changes?since&types&limit`: everything that happened after a change token, oldest first, streamed as
/// NDJSON.
///
/// `types` is a comma-separated list of HealthKit identifiers or short names. `limit` ends the stream after about that
/// many changes. 400 for a query that cannot be understood, 410 for a token of another store, filter or past.
struct ChangeRoutes {
  let store: HealthStore
  let audit: AuditTrail

  /// Changes per read transaction and per token.
  private static let pageSize = 2_000

  func add(to router: RouterGroup<PeerRequestContext>) {
    router.get(RouterPath(Route.changes), use: changes)
  }

  @Sendable private func changes(_ request: Request, context: PeerRequestContext) async throws -> Response {
    guard let client = context.client else { throw ServerFailure.unauthorized }
    let query = try ChangeQuery(request.uri.queryParameters, scope: client.filter, store: store.id)
    let start: ChangePage
    do {
      start = try await page(query, since: query.since, taken: 0)
    } catch StoreError.anchorOutOfRange {
      throw ServerFailure.tokenGone
    }
    let isWhole = start.isLast || start.changes.count >= query.limit
    // What cannot be written down is not sent. HEAD sends nothing.
    if request.method != .head { try await audit.begin(client, query, start, isWhole: isWhole) }
    let body = ResponseBody { writer in
      var served = 0
      var page = start
      do {
        while true {
          try await writer.write(ByteBuffer(bytes: try Self.encode(page, query: query, store: store)))
          served += page.changes.count
          if page.isLast || served >= query.limit { break }
          page = try await self.page(query, since: page.anchor, taken: served)
        }
        try await writer.finish(nil)
      } catch let error as StoreError where !Task.isCancelled {
        // The status is long gone: the last line says what happened, and the client keeps what its tokens cover.
        context.logger.error("store", metadata: ["error": "\(error)"])
        await audit.read(client, query, count: served, upTo: page.anchor, complete: false)
        try await writer.write(ByteBuffer(bytes: try Self.encode(.error("The store cannot answer right now."))))
        return try await writer.finish(nil)
      } catch {
        await audit.read(client, query, count: served, upTo: page.anchor, complete: false)
        throw error
      }
      if !isWhole { await audit.read(client, query, count: served, upTo: page.anchor, complete: true) }
    }
    var headers: HTTPFields = [.contentType: "application/x-ndjson", .cacheControl: "no-store"]
    if let name = HTTPField.Name(ChangeFeed.expectedHeader) {
      let expected = try await store.expectedChanges(since: query.since, filter: query.filter)
      headers[name] = String(min(expected, query.limit))
    }
    return Response(status: .ok, headers: headers, body: body)
  }

  private func page(_ query: ChangeQuery, since: Anchor, taken: Int) async throws -> ChangePage {
    try await store.changes(
      since: since, filter: query.filter, limit: min(Self.pageSize, query.limit - taken))
  }

  private static func encode(_ page: ChangePage, query: ChangeQuery, store: HealthStore) throws -> [UInt8] {
    let encoder = ChangeLineEncoder()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(page.changes.count * 400 + 100)
    for change in page.changes {
      switch change {
      case .added(let sample): try encoder.encode(.added(sample), into: &bytes)
      case .deleted(let tombstone): try encoder.encode(.deleted(tombstone), into: &bytes)
      }
    }
    let token = ChangeToken(store: store.id, change: page.anchor.change, filter: query.hash)
    try encoder.encode(.token(token.text, more: !page.isLast), into: &bytes)
    return bytes
  }

  private static func encode(_ line: ChangeLine) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try ChangeLineEncoder().encode(line, into: &bytes)
    return bytes
  }
}

/// The query of a change request, checked.
struct ChangeQuery {
  var since: Anchor
  var filter: ChangeFilter
  var hash: UInt64
  var limit: Int

  init(_ parameters: Parameters, scope: ChangeFilter, store: UUID) throws {
    var wanted = ChangeFilter.everything
    if let list = parameters["types"] {
      wanted.types = try Set(
        list.split(separator: ",").map { name in
          guard let type = SampleTypeCatalogue.healthKit.type(named: String(name)) else {
            throw ServerFailure.badRequest("'types' names a type that does not exist")
          }
          return type
        })
      if wanted.types?.isEmpty == true { throw ServerFailure.badRequest("'types' is empty") }
    }
    filter = wanted.intersection(scope)
    hash = ChangeToken.filterHash(
      types: filter.types.map { $0.map(\.rawValue) }, earliest: filter.earliest?.microseconds)
    limit = .max
    if let text = parameters["limit"] {
      guard let number = Int(text), number > 0 else {
        throw ServerFailure.badRequest("'limit' is not a positive number")
      }
      limit = number
    }
    since = .zero
    if let text = parameters["since"], !text.isEmpty {
      guard let token = ChangeToken(String(text)) else {
        throw ServerFailure.badRequest("'since' is not a change token")
      }
      guard token.store == store, token.filter == hash else { throw ServerFailure.tokenGone }
      since = Anchor(change: token.change)
    }
  }
}
