import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// A new delivery of the samples that a destination refused, if they are still in the store and still selected.
/// Samples that are accepted now leave the dead letters. An interrupted batch is repeated with its key.
public struct Redelivery<Place: Destination>: Sendable {
  private let destination: Place
  private let name: String
  private let store: HealthStore
  private let filter: SampleFilter
  private let deadLetters: DeadLetters
  private let sendsNames: Bool
  private let shape: DeliveryShape?

  /// Creates a redelivery.
  ///
  /// - Parameter name: the name of the ``Courier``, which must not run at the same time.
  public init(
    to destination: Place, of name: String, from store: HealthStore, filter: SampleFilter, deadLetters: DeadLetters,
    sendsNames: Bool = true, shape: DeliveryShape? = nil
  ) {
    self.shape = shape
    self.destination = destination
    self.name = name
    self.store = store
    self.filter = filter
    self.deadLetters = deadLetters
    self.sendsNames = sendsNames
  }

  /// Makes one attempt for each batch.
  ///
  /// - Throws: ``CourierError`` if the destination cannot be delivered to; samples accepted before stay delivered.
  public func run() async throws -> CourierReport {
    let batches = try await deadLetters.batches(ofAtMost: destination.capabilities.maximumChanges)
    var report = CourierReport()
    if batches.isEmpty { return report }
    try await store.audit.record(AuditEvent(.deliveryStarted, detail))
    do {
      for batch in batches {
        let members = Set(batch.samples)
        // A destination with daily values may refuse samples of another batch.
        let refused = try await deliver(batch).filter { members.contains($0.sample) }
        try await deadLetters.settle(batch, refused: refused)
        let count = Set(refused.map(\.sample)).count
        report.delivered += members.count - count
        report.refused += count
      }
    } catch {
      try await finish(.deliveryFailed, report, reason: "\(error)")
      guard let refusal = error as? DeliveryError else { throw error }
      throw CourierError(refusal, destination: name)
    }
    try await finish(.deliveryFinished, report)
    return report
  }

  private var detail: [String: String] {
    ["destination": name, "kind": Place.description.kind.rawValue, "again": "refused"]
  }

  private func finish(_ event: AuditEvent.Name, _ report: CourierReport, reason: String? = nil) async throws {
    var detail = detail
    detail["count"] = String(report.delivered)
    if report.refused > 0 { detail["refused"] = String(report.refused) }
    detail["reason"] = reason
    try await uncancelled { [detail] in try await store.audit.record(AuditEvent(event, detail)) }
  }

  private func deliver(_ members: DeadLetters.Batch) async throws -> [RefusedSample] {
    var coder = ChangeCoder()
    var refused: [RefusedSample] = []
    for reference in members.samples {
      if let shape, shape.hasStatistics, let sample = try await store.samples.sample(reference),
        let reason = shape.refusal(of: sample)
      {
        refused.append(RefusedSample(reference, reason: reason))
      } else if shape?.hasStatistics == true {
        // The shape computes the statistic again from the samples that are in the store now.
        coder.add(Tombstone(sample: reference, deleted: .now, end: reference.start))
      } else if let sample = try await store.samples.sample(reference), filter.passes(sample) {
        try coder.add(sample)
      } else if destination.capabilities.deletes {
        // The sample was deleted in the meantime, or its deletion was refused.
        coder.add(Tombstone(sample: reference, deleted: .now))
      }
    }
    var batch = DeliveryBatch(changes: coder.changes, startsOver: false)
    if !sendsNames { batch = try batch.withoutNames() }
    if let shape { batch = try await shape.applied(to: batch).batch }
    if !destination.capabilities.deletes { batch = batch.withoutDeletions }
    var budget = RefusalBudget()
    return try await refused + deliver(batch, of: members.key, "", &budget)
  }

  /// Delivers a part of a batch, and splits it further if it is too large or refused as a whole.
  ///
  /// - Parameter path: the UUID bits that all changes of this part have in common, starting with the last bit.
  private func deliver(
    _ batch: DeliveryBatch, of members: UUID, _ path: String, _ budget: inout RefusalBudget
  ) async throws -> [RefusedSample] {
    let (batch, known) = budget.divided(batch)
    if batch.count == 0 { return known }
    let depth = path.utf8.count
    // A long sample may turn into many hours, and the batch size may have been reduced since the batch was formed.
    if batch.count > destination.capabilities.maximumChanges, let parts = batch.parts(byBit: depth) {
      return try await known + deliver(parts, of: members, path, &budget)
    }
    do {
      let key = "again-\(members.uuidString.lowercased())\(path)"
      let delivery = try await destination.attempt(
        batch, key: DeliveryKey(description: key), clock: ContinuousClock())
      budget.note(delivery, of: batch)
      return known + delivery.refused
    } catch DeliveryError.refused(let reason) {
      guard let parts = batch.parts(byBit: depth) else {
        budget.noteRefusal(reason, of: batch)
        return known + batch.refused(reason)
      }
      return try await known + deliver(parts, of: members, path, &budget)
    }
  }

  private func deliver(
    _ parts: (DeliveryBatch, DeliveryBatch), of members: UUID, _ path: String, _ budget: inout RefusalBudget
  ) async throws -> [RefusedSample] {
    // The order depends on the key, so that a refused part doesn't always delay the same other part.
    let isTurned = members.hasBit(path.utf8.count)
    var refused: [RefusedSample] = []
    for (part, bit) in isTurned ? [(parts.1, "1"), (parts.0, "0")] : [(parts.0, "0"), (parts.1, "1")] {
      refused += try await deliver(part, of: members, path + bit, &budget)
    }
    return refused
  }
}
