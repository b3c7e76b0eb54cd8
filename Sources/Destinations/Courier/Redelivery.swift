import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// Delivers once more what a destination has refused: what is still in the store and still selected. What it takes now is not
/// among the dead letters any more.
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
    let letters = try await deadLetters.read()
    var report = CourierReport()
    if letters.isEmpty { return report }
    var left = Set(letters.map(\.sample))
    try await store.audit.record(AuditEvent(.deliveryStarted, detail))
    do {
      let size = destination.capabilities.maximumChanges
      let all = left.sorted { ($0.start, $0.uuid.uuidString) < ($1.start, $1.uuid.uuidString) }
      for first in stride(from: 0, to: all.count, by: size) {
        let part = all[first..<min(first + size, all.count)]
        let refused = Set(try await deliver(Array(part)).map(\.sample)).intersection(part)
        report.delivered += part.count - refused.count
        report.refused += refused.count
        left.subtract(part.filter { !refused.contains($0) })
        try await deadLetters.keep(left)
      }
    } catch {
      try await finish(.deliveryFailed, report, reason: "\(error)")
      switch error as? DeliveryError {
      case .temporary(let reason, _): throw CourierError.gaveUp(destination: name, attempts: 1, reason: reason)
      case .refused(let reason), .unusable(let reason): throw CourierError.unusable(destination: name, reason: reason)
      case nil: throw error
      }
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

  private func deliver(_ references: [SampleReference]) async throws -> [RefusedSample] {
    var coder = ChangeCoder()
    for reference in references {
      if shape?.hasStatistics == true {
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
    if let shape { batch = try await shape.applied(to: batch) }
    if !destination.capabilities.deletes { batch = batch.withoutDeletions }
    var budget = RefusalBudget()
    return try await deliver(batch, key: "again-\(UUID().uuidString.lowercased())", depth: 0, &budget)
  }

  private func deliver(
    _ batch: DeliveryBatch, key: String, depth: Int, _ budget: inout RefusalBudget
  ) async throws -> [RefusedSample] {
    let (batch, known) = budget.divided(batch)
    if batch.count == 0 { return known }
    do {
      let delivery = try await destination.attempt(
        batch, key: DeliveryKey(description: key), clock: ContinuousClock())
      budget.note(delivery, of: batch)
      return known + delivery.refused
    } catch DeliveryError.refused(let reason) {
      guard let (first, second) = batch.parts(byBit: depth) else {
        budget.noteRefusal(reason, of: batch)
        return known + batch.refused(reason)
      }
      // In another order each time: those that are refused do not keep the same others back for ever.
      let parts = Bool.random() ? [(first, "0"), (second, "1")] : [(second, "1"), (first, "0")]
      var refused = known
      for (part, bit) in parts {
        refused += try await deliver(part, key: key + bit, depth: depth + 1, &budget)
      }
      return refused
    }
  }
}
