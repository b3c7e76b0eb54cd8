import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import NIOCore
import PeerProtocol

/// `GET /api/v2/digest?types&from&to&deep`: what the caller may see of the record, in numbers that are equal where the
/// records are (`docs/protocol/digest.md`).
///
/// 400 for a query that cannot be understood, and for contents of more samples than one answer may take time for; 503
/// while the digests of a store that has never been asked for them are being made.
struct DigestRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.digest, for: .reading, digest)
  ]

  /// Maximum time spent on bringing digests up to date for one request. After it the caller is asked to retry (503),
  /// and what was done is kept.
  private static let patience = Duration.seconds(3)
  /// Samples whose contents are read for one answer, unless they are of one month.
  static let maximumDeepSamples = 250_000

  private let store: HealthStore
  private let audit: AuditTrail
  private let seal: ChangeTokenSeal

  init(store: HealthStore, audit: AuditTrail) {
    self.store = store
    self.audit = audit
    seal = ChangeTokenSeal(key: store.positionKey)
  }

  @Sendable private func digest(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let client = try context.authorized()
    let selection = try Self.selection(request.uri.queryParameters)
    if request.method == .head { return Response(status: .ok, headers: JSONAnswer.headers) }
    let filter = client.scope.applied(to: selection.filter)
    guard try await store.digests.keep(for: Self.patience) else {
      throw ServerFailure(
        status: .serviceUnavailable, message: "The digest is being made for the first time.",
        headers: [.retryAfter: "1"])
    }
    var digest = try await store.digests.current(filter, months: selection.months)
    let isTooDeep = selection.isDeep && digest.record.parts(ofAtMost: Self.maximumDeepSamples).count > 1
    if selection.isDeep, !isTooDeep { digest = try await store.digests.deep(filter, months: selection.months) }
    // What cannot be written down is not sent; that there is so much tells something, too.
    try await audit.digested(client, selection, filter, digest)
    if isTooDeep {
      throw ServerFailure.badRequest(
        "'deep' covers more than \(Self.maximumDeepSamples) samples: ask for fewer months with 'from' and 'to'")
    }
    return JSONAnswer.inPieces(try answer(digest, filter, scope: client.scope))
  }

  private static func selection(_ parameters: Parameters) throws -> DigestSelection {
    do throws(QueryFieldError) {
      return try DigestSelection(
        types: parameters["types"], sources: parameters.getAll("source"), from: parameters["from"],
        to: parameters["to"], deep: parameters["deep"])
    } catch {
      throw ServerFailure.badRequest(error.description)
    }
  }

  private func answer(_ digest: StoreDigest, _ filter: SampleFilter, scope: ClientScope) throws -> ByteBuffer {
    let token = ChangeToken(
      change: digest.anchor.change, epoch: digest.epoch.id, filter: scope.tokenHash(filter))
    let data = DigestData(digest.record, token: seal.text(of: token), filter: filter)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return ByteBuffer(bytes: try encoder.encode(Envelope(data)))
  }
}
