import NIOCore
import Synchronization

/// A token bucket for each address that limits requests without a token.
final class RequestBudget: Sendable {
  private struct Bucket {
    var tokens: Double
    var updated: NIODeadline
  }

  private let burst: Double
  private let perSecond: Double
  private let capacity: Int
  private let buckets = Mutex<[AddressGroup: Bucket]>([:])

  init(_ limits: ServingLimits) {
    burst = Double(limits.requestBurst)
    perSecond = Double(limits.requestsPerSecond)
    capacity = max(1, limits.accountedAddresses)
  }

  /// Takes one request from an address's bucket.
  ///
  /// - Returns: `nil`, or the number of seconds until a request is allowed.
  func take(_ address: AddressGroup, now: NIODeadline = .now()) -> Int? {
    buckets.withLock { buckets in
      var bucket = buckets[address] ?? Bucket(tokens: burst, updated: now)
      bucket.tokens = min(burst, bucket.tokens + (now - bucket.updated).seconds * perSecond)
      bucket.updated = now
      let isAllowed = bucket.tokens >= 1
      if isAllowed { bucket.tokens -= 1 }
      if buckets[address] == nil, buckets.count >= capacity { makeRoom(in: &buckets) }
      buckets[address] = bucket
      return isAllowed ? nil : max(1, Int(((1 - bucket.tokens) / perSecond).rounded(.up)))
    }
  }

  /// The number of addresses with a token bucket.
  var count: Int { buckets.withLock(\.count) }

  /// Removes the quarter of the buckets unused for longest, so that the cost is spread over many calls.
  private func makeRoom(in buckets: inout [AddressGroup: Bucket]) {
    let oldest = buckets.sorted { $0.value.updated < $1.value.updated }.prefix(max(1, capacity / 4))
    for (address, _) in oldest { buckets[address] = nil }
  }
}

extension TimeAmount {
  fileprivate var seconds: Double { Double(nanoseconds) / 1_000_000_000 }
}
