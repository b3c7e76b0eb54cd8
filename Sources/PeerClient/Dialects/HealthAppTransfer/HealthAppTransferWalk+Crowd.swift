import Foundation
import HealthModel

extension HealthAppTransferWalk {
  /// A second with more rows than fit on a page. Its rows come in a different order each time, so it is read
  /// repeatedly until as many rows have arrived as exist.
  struct Crowd {
    let second: Int64
    /// The offset of a page that begins at the second or before.
    var start: Int
    /// The offset of the next page; `nil` for the first of a pass.
    var offset: Int?
    /// The offset at which the second begins in this pass.
    var first = 0
    var seen: Set<UUID> = []
    var passes = 0
    /// Whether fewer rows arrived than exist.
    var isShort = false
  }

  /// The maximum number of passes. A pass of two pages misses a given row with a probability of one in four, a pass
  /// of many pages with one in three.
  private static let mostPasses = 40
  /// The maximum number of identities kept of one second, far above what any app writes.
  private static let mostOfSecond = 50_000
  /// The maximum number of pages in one pass.
  private static let mostPagesOfSecond = 100

  /// Reads one page of a crowded second.
  mutating func read(_ crowd: Crowd) async throws -> PhoneStep {
    var crowd = crowd
    let offset = crowd.offset ?? crowd.start
    let page = try await client.page(of: type, offset: offset)
    if crowd.offset == nil {
      let first = page.rows.firstIndex { $0.second <= crowd.second }
      if first == 0, offset > 0 {
        // The list has moved.
        guard crowd.passes < Self.mostPasses else { throw Self.endless }
        (crowd.start, crowd.passes) = (max(0, offset - Self.stepBack), crowd.passes + 1)
        mode = .crowd(crowd)
        return PhoneStep()
      }
      crowd.first = offset + (first ?? page.rows.count)
    }
    var samples: [Sample] = []
    for row in page.rows where row.second == crowd.second && crowd.seen.insert(row.sample.uuid).inserted {
      samples.append(row.sample)
    }
    guard crowd.seen.count <= Self.mostOfSecond, offset - crowd.start <= Self.mostPagesOfSecond * page.limit
    else {
      throw PeerError.unexpectedAnswer(status: 200, message: "more than \(Self.mostOfSecond) samples of one second")
    }
    let older = page.rows.firstIndex { $0.second < crowd.second }
    guard older != nil || !page.hasMore else {
      crowd.offset = offset + page.limit
      mode = .crowd(crowd)
      return PhoneStep(samples: samples)
    }
    let end = offset + (older ?? page.rows.count)
    if crowd.seen.count >= end - crowd.first || crowd.passes >= Self.mostPasses {
      crowd.isShort = crowd.seen.count < end - crowd.first
      pass(crowd, before: end)
    } else {
      (crowd.offset, crowd.passes) = (nil, crowd.passes + 1)
      mode = .crowd(crowd)
    }
    return PhoneStep(samples: samples)
  }
}
