import Foundation
import HealthModel

/// The samples to delete and to add in one delivery.
public struct DeliveryBatch: Sendable {
  /// The changes in the encoding of the store, which is the fastest to pass on.
  public let changes: CodedChanges
  /// Whether the destination must discard everything delivered before. The whole record follows.
  public let startsOver: Bool

  /// Returns a batch without samples and tombstones.
  static func empty(startsOver: Bool) -> DeliveryBatch {
    DeliveryBatch(changes: ChangeCoder().changes, startsOver: startsOver)
  }

  /// The samples to delete. Some may never have been delivered.
  public var deletions: [Tombstone] { changes.tombstones.map(changes.tombstone) }

  /// Returns the samples to add. A sample replaces an earlier sample with the same reference.
  ///
  /// - Throws: `DecodingError` if the store is damaged.
  public func additions() throws -> [Sample] {
    let expander = try ChangeExpander(changes)
    return try changes.samples.map(expander.sample)
  }

  /// The number of samples and tombstones.
  public var count: Int { changes.samples.count + changes.tombstones.count }

  /// Whether the batch has no changes and doesn't start over.
  var isEmpty: Bool { count == 0 && !startsOver }

  /// A copy without deletions.
  var withoutDeletions: DeliveryBatch {
    var changes = changes
    changes.tombstones = []
    return DeliveryBatch(changes: changes, startsOver: startsOver)
  }

  /// Returns a copy without the names of sources and devices. Throws `DecodingError` if the store is damaged.
  func withoutNames() throws -> DeliveryBatch {
    DeliveryBatch(changes: try NameRedaction.applied(to: changes), startsOver: startsOver)
  }

  /// Splits the batch by a bit of the UUIDs, counted from the last bit: changes with 0, changes with 1. A repeated
  /// batch that lacks some samples is split alike. Returns `nil` for a single change, and when no bits are left.
  func parts(byBit bit: Int) -> (DeliveryBatch, DeliveryBatch)? {
    // The bits from 62 on are the UUID's variant, the same in all UUIDs.
    guard count > 1, bit < 62 else { return nil }
    var (first, second) = (changes, changes)
    first.samples.removeAll { $0.uuid.hasBit(bit) }
    second.samples.removeAll { !$0.uuid.hasBit(bit) }
    first.tombstones.removeAll { $0.uuid.hasBit(bit) }
    second.tombstones.removeAll { !$0.uuid.hasBit(bit) }
    return (DeliveryBatch(changes: first, startsOver: startsOver), DeliveryBatch(changes: second, startsOver: false))
  }

  /// The order to start over and the changes, as two batches; `nil` if the batch doesn't have both.
  var startAlone: (start: DeliveryBatch, rest: DeliveryBatch)? {
    guard startsOver, count > 0 else { return nil }
    return (
      DeliveryBatch(changes: ChangeCoder().changes, startsOver: true),
      DeliveryBatch(changes: changes, startsOver: false)
    )
  }

  /// Splits the batch into the changes of a type and all others. The others start over if this batch does.
  func parts(of type: SampleType) -> (these: DeliveryBatch, others: DeliveryBatch) {
    let isOfType = changes.types.map { $0 == type }
    var (these, others) = (changes, changes)
    these.samples.removeAll { !isOfType[Int($0.type)] }
    others.samples.removeAll { isOfType[Int($0.type)] }
    these.tombstones.removeAll { !isOfType[Int($0.type)] }
    others.tombstones.removeAll { isOfType[Int($0.type)] }
    return (DeliveryBatch(changes: these, startsOver: false), DeliveryBatch(changes: others, startsOver: startsOver))
  }

  /// Returns a refusal for each change of the batch.
  func refused(_ reason: String) -> [RefusedSample] {
    let samples = changes.samples.map {
      SampleReference(type: changes.types[Int($0.type)], start: $0.start, uuid: $0.uuid)
    }
    return (samples + deletions.map(\.sample)).map { RefusedSample($0, reason: reason) }
  }
}

extension UUID {
  /// Returns whether a bit is 1, counted from the last bit; the first 62 are random in a random UUID.
  func hasBit(_ bit: Int) -> Bool {
    withUnsafeBytes(of: uuid) { $0[15 - bit / 8] >> UInt8(bit % 8) & 1 == 1 }
  }
}
