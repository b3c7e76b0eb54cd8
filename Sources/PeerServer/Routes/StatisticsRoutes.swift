import Foundation
import HTTPTypes
import HealthAnalysis
import HealthModel
import HealthStore
import Hummingbird
import NIOCore
import OperatingSystem
import PeerProtocol
import PeerTrust

/// The route `GET /api/v2/statistics?types&bucket&zone&from&to&source&weekStart`: sums, means and extremes of what
/// the caller may read (`docs/reference/statistics.md`).
///
/// A client that may only read daily values gets finished days of one zone that lie entirely within its scope, and
/// nothing that reveals single samples; anything else is 403. Invalid queries and answers that would be too long are
/// 400.
struct StatisticsRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.statistics, for: .counting, statistics)
  ]

  /// The maximum number of buckets of one answer, about 10 MB of JSON.
  static let maximumValues = 40_000

  private let store: HealthStore
  private let registry: PeerRegistry
  private let audit: AuditTrail
  private let rollups: Rollups

  init(store: HealthStore, registry: PeerRegistry, audit: AuditTrail) {
    self.store = store
    self.registry = registry
    self.audit = audit
    rollups = Rollups(of: store)
  }

  private struct Answer: Encodable {
    var statistics: [StatisticsObject]
  }

  @Sendable private func statistics(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let client = try context.authorized()
    let settings = try await store.settings.current()
    let (parameters, isOnlyDaily) = (request.uri.queryParameters, client.scope.isOnlyDaily)
    // Time zones are read from files.
    var home = try await onThread { _ in try ZoneRules(homeOf: settings) }
    if isOnlyDaily {
      let name = try await registry.dailyZone(ofClient: client.id, home: home.name)
      if name != home.name { home = try await onThread { _ in try ZoneRules(named: name) } }
    }
    let question = try await onThread { [home] _ in
      try StatisticsQuestion(parameters, home: home, isOnlyDaily: isOnlyDaily)
    }
    if request.method == .head {
      return Response(status: .ok, headers: JSONAnswer.headers)
    }
    // Recorded before the computation, because a refusal for length also reveals something.
    try await audit.counted(client, question)
    let now = Timestamp.now
    var (answers, count): ([StatisticsObject], Int) = ([], 0)
    for type in question.types {
      guard let query = client.scope.applied(to: question.query(type, now: now)) else { continue }
      let statistics: Statistics
      do {
        statistics = try await query.run(on: rollups)
      } catch StatisticsError.noQuantity {
        throw ServerFailure.badRequest("'\(type.shortName)' has no numbers")
      } catch StatisticsError.tooManyBuckets {
        throw Self.tooLong
      }
      let answer = client.scope.object(of: statistics, question.zone, now: now)
      count += answer.values.count
      guard count <= Self.maximumValues else { throw Self.tooLong }
      answers.append(answer)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return JSONAnswer.inPieces(ByteBuffer(bytes: try encoder.encode(Envelope(Answer(statistics: answers)))))
  }

  private static var tooLong: ServerFailure {
    .badRequest(
      "The answer would have more than \(maximumValues) values: ask for fewer types, less time or larger buckets.")
  }
}
