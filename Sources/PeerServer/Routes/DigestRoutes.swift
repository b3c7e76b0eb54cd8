import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import NIOCore
import PeerProtocol

/// The route `GET /api/v2/digest?types&from&to&deep`: a digest of what the caller may read, equal for equal records
/// (`docs/protocol/digest.md`).
///
/// Errors: 400 for an invalid query or contents of too many samples for one answer; 503 while the digests of a store
/// are computed for the first time.
struct DigestRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.digest, for: .reading, digest)
  ]

  /// The maximum time spent updating digests for one request. After it, the caller is asked to retry (503), and the
  /// progress is kept.
  private static let patience = Duration.seconds(3)
  /// The maximum number of samples whose contents are read for one answer, unless they are of one month.
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
    // An answer that cannot be recorded is not sent. The refusal also reveals something: that there are so many
    // samples.
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
