import Foundation
import HealthAppTransfer
import HealthModel
import HealthStore
import Hummingbird
import PeerProtocol
import PeerTrust

/// The routes `GET /health/types` and `GET /health/data`, compatible with HealthAppTransfer (`TypeList` and
/// `TransferPage` of `openapi.yaml`).
///
/// Types have the catalogue's short names, values are in its canonical units, and samples come newest first. Unlike
/// in the app, `sampleCount` and `totalCount` are true counts, and invalid numbers are refused.
struct HealthAppTransferRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.types, for: .reading, types),
    Endpoint(.get, Route.data, for: .reading, data),
  ]

  let store: HealthStore
  let audit: AuditTrail

  private static let defaultLimit = 500
  private static let maximumLimit = 1000

  @Sendable private func types(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let client = try context.authorized()
    // The app would request pages of every listed type and get empty ones.
    let counts = try await client.scope.typeCounts(in: store).filter { AppTypes.entry(of: $0.type) != nil }
    let entries = counts.map { count in
      HealthTypes.Entry(
        identifier: count.type.shortName,
        displayName: SampleTypeCatalogue.healthKit[count.type]?.displayName ?? count.type.rawValue,
        sampleCount: count.samples)
    }.sorted { $0.identifier < $1.identifier }
    try await audit.listed(client, types: entries.count)
    return JSONAnswer.response(Envelope(HealthTypes(types: entries)))
  }

  @Sendable private func data(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let client = try context.authorized()
    let query = request.uri.queryParameters
    guard let name = query["type"], let type = SampleTypeCatalogue.healthKit.type(named: String(name)) else {
      throw ServerFailure.badRequest("Missing or invalid 'type' query parameter")
    }
    let offset = try number(query["offset"], named: "offset", default: 0, in: 0...Int(Int32.max))
    let limit = min(
      try number(query["limit"], named: "limit", default: Self.defaultLimit, in: 1...Int(Int32.max)), Self.maximumLimit)
    let spelling = try dates(query["dates"], client: client)

    let position = try await store.feed.currentPosition()
    let page = try await page(of: type, offset: offset, limit: limit, client: client)
    var dtos: [HealthSampleDTO] = []
    for sample in page.samples {
      let members = try await members(of: sample, client: client)
      if let dto = HealthSampleDTO(sample, members: members, dates: spelling) { dtos.append(dto) }
    }
    try await audit.read(client, type: type, offset: offset, count: page.samples.count, at: position)
    return JSONAnswer.response(
      Envelope(
        HealthDataPage(type: type.shortName, samples: dtos, totalCount: page.total, offset: offset, limit: limit)))
  }

  private func page(
    of type: SampleType, offset: Int, limit: Int, client: AuthorizedClient
  ) async throws -> (samples: [Sample], total: Int) {
    guard AppTypes.entry(of: type) != nil else { return ([], 0) }
    return try await client.scope.page(of: type, in: store, offset: offset, limit: limit)
  }

  private func members(of sample: Sample, client: AuthorizedClient) async throws -> [Sample] {
    guard case .correlation(let correlation) = sample.payload else { return [] }
    var members: [Sample] = []
    for reference in correlation.members {
      if let member = try await client.scope.sample(reference, in: store) { members.append(member) }
    }
    return members
  }

  private func number(
    _ text: Substring?, named name: String, default fallback: Int, in range: ClosedRange<Int>
  ) throws -> Int {
    guard let text else { return fallback }
    guard let value = Int(text), range.contains(value) else {
      throw ServerFailure.badRequest("'\(name)' must be a whole number from \(range.lowerBound)")
    }
    return value
  }

  /// Returns the spelling of dates. The published Mac client, which pairs by plain code, only reads numbers; `dates`
  /// overrides this.
  private func dates(_ text: Substring?, client: AuthorizedClient) throws -> DateSpelling {
    guard let text else { return client.isForeign ? .reference : .iso8601 }
    guard let spelling = DateSpelling(rawValue: String(text)) else {
      throw ServerFailure.badRequest("'dates' must be iso8601 or reference")
    }
    return spelling
  }
}
