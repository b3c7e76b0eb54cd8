import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// Delivers once more what a destination has refused: what is still in the store and still selected. What it takes now is not
/// among the dead letters any more. Killed in between, the same batch comes again under the same key.
public struct Redelivery<Place: Destination>: Sendable {
  private let destination: Place
  private let name: String
  private let store: HealthStore
  private let filter: SampleFilter
  private let deadLetters: DeadLetters
  private let sendsNames: Bool
  private let shape: DeliveryShape?

  /// - Parameter name: of the ``Courier``, which must not run meanwhile.
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

  /// One attempt for each batch.
  ///
  /// - Throws: ``CourierError`` where the destination cannot be delivered to; what it took before stays taken.
  public func run() async throws -> CourierReport {
    let batches = try await deadLetters.batches(ofAtMost: destination.capabilities.maximumChanges)
    var report = CourierReport()
    if batches.isEmpty { return report }
    try await store.audit.record(AuditEvent(.deliveryStarted, detail))
    do {
      for batch in batches {
        let members = Set(batch.samples)
        // A destination of days may refuse samples that were in another batch.
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
        // It is made of what is there now.
        coder.add(Tombstone(sample: reference, deleted: .now, end: reference.start))
      } else if let sample = try await store.samples.sample(reference), filter.passes(sample) {
        try coder.add(sample)
      } else if destination.capabilities.deletes {
        // Gone meanwhile, or a deletion that was refused.
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

  /// - Parameter path: the bits of the part's UUIDs, from the last on.
  private func deliver(
    _ batch: DeliveryBatch, of members: UUID, _ path: String, _ budget: inout RefusalBudget
  ) async throws -> [RefusedSample] {
    let (batch, known) = budget.divided(batch)
    if batch.count == 0 { return known }
    let depth = path.utf8.count
    // Of a long sample there may be many hours, and settings may want smaller batches than when the members were chosen.
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
    // In another order for each key: those that are refused do not keep the same others back for ever.
    let isTurned = members.hasBit(path.utf8.count)
    var refused: [RefusedSample] = []
    for (part, bit) in isTurned ? [(parts.1, "1"), (parts.0, "0")] : [(parts.0, "0"), (parts.1, "1")] {
      refused += try await deliver(part, of: members, path + bit, &budget)
    }
    return refused
  }
}
