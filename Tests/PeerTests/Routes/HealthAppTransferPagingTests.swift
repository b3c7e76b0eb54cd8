import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import TestSupport
import Testing

@testable import PeerServer

@Suite("Pages in HealthAppTransfer's way", .timeLimit(.minutes(5))) struct HealthAppTransferPagingTests {
  private struct Entry: Equatable {
    var id: String
    var start: Double
  }

  /// Fetches all pages as the app's clients do: advancing by the server's limit while it says that there is more.
  private static func all(
    of type: String, limit: Int, server: TestServer, token: String
  ) async throws -> [Entry] {
    var entries: [Entry] = []
    var offset = 0
    while true {
      let path = "\(Route.data)?type=\(type)&offset=\(offset)&limit=\(limit)&dates=reference"
      let data = try await server.request(.GET, path, headers: [("Authorization", "Bearer \(token)")]).data()
      let samples = try #require(data["samples"] as? [[String: Any]])
      #expect(samples.count <= limit)
      for sample in samples {
        entries.append(
          Entry(
            id: try #require(sample["id"] as? String), start: try #require(sample["startDate"] as? Double)))
      }
      #expect(data["offset"] as? Int == offset)
      guard data["hasMore"] as? Bool == true else { return entries }
      offset += try #require(data["limit"] as? Int)
    }
  }

  /// Many samples start at the same time, some can't be represented in the app's format, and writes before and
  /// between readings have left gaps. The store doesn't change while pages are read.
  @Test("pages of any size hold each sample once, newest first", arguments: [1, 2, 3] as [UInt64])
  func pages(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var samples: [Sample] = []
    for _ in 0..<250 {
      let minute = Samples.noon + Int64.random(in: 0..<40, using: &random) * 60
      let value = random.oneIn(10) ? .nan : Double.random(in: 40...180, using: &random)
      samples.append(Samples.quantity(random.pick([Samples.heartRate, Samples.stepCount]), value, "count", at: minute))
    }
    let deleted = (0..<30).map { _ in random.pick(samples).reference }
    var expected: [SampleType: [Sample]] = [:]
    for sample in samples where !deleted.contains(sample.reference) {
      if case .quantity(let quantity) = sample.payload, quantity.value.isNaN { continue }
      expected[sample.type, default: []].append(sample)
    }
    let limits = [1, 7, 50, 1_000] + (0..<3).map { _ in Int.random(in: 2...200, using: &random) }
    let (wanted, sizes) = (expected, limits)
    try await withServer(ServerOptions(samples: samples)) { server in
      try await server.store.apply(
        ChangeBatch(deletions: deleted.map { Tombstone(sample: $0, deleted: Timestamp(seconds: 1)) }))
      let token = try await server.token().token.text
      for (type, name) in [(Samples.heartRate, "heartRate"), (Samples.stepCount, "stepCount")] {
        let whole = try await Self.all(of: name, limit: 1_000, server: server, token: token)
        #expect(Set(whole.map(\.id)) == Set(wanted[type, default: []].map(\.uuid.uuidString)), "seed \(seed)")
        #expect(Set(whole.map(\.id)).count == whole.count, "seed \(seed)")
        #expect(zip(whole, whole.dropFirst()).allSatisfy { $0.start >= $1.start }, "seed \(seed)")
        for size in sizes {
          let pages = try await Self.all(of: name, limit: size, server: server, token: token)
          #expect(pages == whole, "seed \(seed), pages of \(size)")
        }
      }
    }
  }
}
