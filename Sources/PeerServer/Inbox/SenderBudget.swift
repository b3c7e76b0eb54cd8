import Foundation
import Synchronization

/// Two token buckets for each sender, of bodies and of samples. The owner determines the number of senders.
final class SenderBudget: Sendable {
  private struct Buckets {
    var bodies: Double
    var samples: Double
    var updated: Duration
  }

  private let limits: InboxLimits
  private let elapsed: @Sendable () -> Duration
  private let buckets = Mutex<[String: Buckets]>([:])

  init(_ limits: InboxLimits, clock: any Clock<Duration>) {
    self.limits = limits
    elapsed = clock.stopwatch()
  }

  /// Takes one body from a sender's bucket.
  ///
  /// - Returns: `nil`, or the number of seconds until a body is available.
  func take(_ sender: String) -> Int? {
    update(sender) { buckets in
      if buckets.samples < 0 { return Self.wait(-buckets.samples, limits.samplesPerSecond) }
      guard buckets.bodies >= 1 else { return Self.wait(1 - buckets.bodies, limits.bodiesPerSecond) }
      buckets.bodies -= 1
      return nil
    }
  }

  /// Subtracts the samples of an accepted body, or the samples that its size counts as if these are more. The number
  /// is unknown before.
  func spend(_ receipt: InboxReceipt, of sender: String) {
    let samples = max(receipt.taken, receipt.contentBytes / max(1, limits.bytesPerSample))
    update(sender) { $0.samples -= Double(samples) }
  }

  private func update<Result>(_ sender: String, _ body: (inout Buckets) -> Result) -> Result {
    let now = elapsed()
    return buckets.withLock { all in
      var buckets =
        all[sender]
        ?? Buckets(bodies: Double(limits.bodyBurst), samples: Double(limits.sampleBurst), updated: now)
      let seconds = max(0, (now - buckets.updated) / .seconds(1))
      buckets.bodies = min(Double(limits.bodyBurst), buckets.bodies + seconds * limits.bodiesPerSecond)
      buckets.samples = min(Double(limits.sampleBurst), buckets.samples + seconds * limits.samplesPerSecond)
      buckets.updated = now
      let result = body(&buckets)
      all[sender] = buckets
      return result
    }
  }

  private static func wait(_ missing: Double, _ perSecond: Double) -> Int {
    let seconds = (missing / max(perSecond, 1e-6)).rounded(.up)
    return max(1, Int(exactly: min(seconds, 86_400)) ?? 86_400)
  }
}
