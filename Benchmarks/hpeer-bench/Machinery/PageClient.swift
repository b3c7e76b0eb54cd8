import Foundation
import HealthModel
import PeerClient
import PeerProtocol
import PeerTrust

/// A client that requests pages over a single connection.
struct PageClient {
  let connection: PeerConnection
  let credential: BearerCredential

  func types() async throws -> [TypeList.Entry] {
    try await get(Route.types, as: Envelope<TypeList>.self).data.types
  }

  func page(of type: String, offset: Int, limit: Int) async throws -> Page {
    try await get("\(Route.data)?type=\(type)&offset=\(offset)&limit=\(limit)", as: Envelope<Page>.self).data
  }

  private func get<Answer: Decodable>(_ path: String, as type: Answer.Type) async throws -> Answer {
    let head = try await connection.send(.GET, path, headers: [("Authorization", "Bearer \(credential.text)")])
    let body = try await connection.body(limit: 64 << 20)
    guard head.status == .ok else {
      throw BenchFailure("GET \(path) was answered with \(head.status.code): \(String(decoding: body, as: UTF8.self))")
    }
    return try JSONDecoder().decode(type, from: body)
  }
}

/// The part of `GET /health/types` that the app's clients read.
struct TypeList: Decodable, Sendable {
  struct Entry: Decodable, Sendable {
    var identifier: String
    var sampleCount: Int
  }

  var types: [Entry]
}

/// The part of `GET /health/data` that the app's clients read.
struct Page: Decodable, Sendable {
  struct Entry: Decodable, Sendable {
    var id: UUID
    var type: String
    var startDate: Timestamp
    var endDate: Timestamp
    var sourceName: String
    var sourceBundleIdentifier: String?
    var value: Double?
    var unit: String?
    var categoryValue: Int64?
    var workoutActivityType: UInt?
    var workoutDuration: Double?
    var workoutTotalEnergyBurned: Double?
    var workoutTotalDistance: Double?
    var correlationValues: [String: Double]?
    var metadataJSON: String?
  }

  var samples: [Entry]
  var hasMore: Bool
}

extension Page.Entry {
  /// The sample, as far as the pages describe it.
  var sample: Sample {
    let payload: Payload =
      if let value {
        .quantity(Quantity(value, unit ?? ""))
      } else if let workoutActivityType {
        .workout(Workout(activityType: .value(workoutActivityType), duration: workoutDuration))
      } else if correlationValues != nil {
        .correlation(Correlation(members: []))
      } else {
        .category(CategoryValue(value: categoryValue))
      }
    return Sample(
      uuid: id, type: SampleTypeCatalogue.healthKit.type(named: type) ?? SampleType(type), start: startDate,
      end: endDate, source: Source(name: sourceName, bundleIdentifier: sourceBundleIdentifier),
      metadata: metadataJSON.map { ["metadata": .string($0)] } ?? [:], payload: payload)
  }
}
