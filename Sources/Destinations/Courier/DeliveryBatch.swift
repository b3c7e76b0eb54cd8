import Foundation
import HealthModel

/// Samples to delete and to add, for one delivery.
public struct DeliveryBatch: Sendable {
  /// As they are stored, which is fastest to pass on.
  public let changes: CodedChanges
  /// Forget everything that was delivered before: all that there is follows, beginning with this batch.
  public let startsOver: Bool

  /// One without samples and tombstones.
  static func empty(startsOver: Bool) -> DeliveryBatch {
    DeliveryBatch(changes: ChangeCoder().changes, startsOver: startsOver)
  }

  /// Samples to delete, perhaps some that were never delivered.
  public var deletions: [Tombstone] { changes.tombstones.map(changes.tombstone) }

  /// Samples to add, or to take in place of one with the same reference.
  ///
  /// - Throws: `DecodingError` where the store is damaged.
  public func additions() throws -> [Sample] {
    let expander = try ChangeExpander(changes)
    return try changes.samples.map(expander.sample)
  }

  /// Samples and tombstones together.
  public var count: Int { changes.samples.count + changes.tombstones.count }

  /// Whether there is nothing to deliver.
  var isEmpty: Bool { count == 0 && !startsOver }

  /// The same without deletions.
  var withoutDeletions: DeliveryBatch {
    var changes = changes
    changes.tombstones = []
    return DeliveryBatch(changes: changes, startsOver: startsOver)
  }

  /// The same without the names of sources and devices. Throws `DecodingError` where the store is damaged.
  func withoutNames() throws -> DeliveryBatch {
    DeliveryBatch(changes: try NameRedaction.applied(to: changes), startsOver: startsOver)
  }

  /// The parts whose UUIDs have a 0 and a 1 in a bit, from the last on, so that what is gone when the batch comes again moves
  /// nothing from one part to the other; `nil` of one change, and where no bit is left.
  func parts(byBit bit: Int) -> (DeliveryBatch, DeliveryBatch)? {
    // The variant's bits, which all UUIDs have in common, come last.
    guard count > 1, bit < 62 else { return nil }
    var (first, second) = (changes, changes)
    first.samples.removeAll { $0.uuid.hasBit(bit) }
    second.samples.removeAll { !$0.uuid.hasBit(bit) }
    first.tombstones.removeAll { $0.uuid.hasBit(bit) }
    second.tombstones.removeAll { !$0.uuid.hasBit(bit) }
    return (DeliveryBatch(changes: first, startsOver: startsOver), DeliveryBatch(changes: second, startsOver: false))
  }

  /// That everything is to be forgotten, and what follows; `nil` where nothing follows or nothing is to be forgotten.
  var startAlone: (start: DeliveryBatch, rest: DeliveryBatch)? {
    guard startsOver, count > 0 else { return nil }
    return (
      DeliveryBatch(changes: ChangeCoder().changes, startsOver: true),
      DeliveryBatch(changes: changes, startsOver: false)
    )
  }

  /// The changes of a type, and all others, which start over where this does.
  func parts(of type: SampleType) -> (these: DeliveryBatch, others: DeliveryBatch) {
    let isOfType = changes.types.map { $0 == type }
    var (these, others) = (changes, changes)
    these.samples.removeAll { !isOfType[Int($0.type)] }
    others.samples.removeAll { isOfType[Int($0.type)] }
    these.tombstones.removeAll { !isOfType[Int($0.type)] }
    others.tombstones.removeAll { isOfType[Int($0.type)] }
    return (DeliveryBatch(changes: these, startsOver: false), DeliveryBatch(changes: others, startsOver: startsOver))
  }

  /// What is refused when all of it is.
  func refused(_ reason: String) -> [RefusedSample] {
    let samples = changes.samples.map {
      SampleReference(type: changes.types[Int($0.type)], start: $0.start, uuid: $0.uuid)
    }
    return (samples + deletions.map(\.sample)).map { RefusedSample($0, reason: reason) }
  }
}

extension UUID {
  /// Whether a bit is 1, counted from the last on; the first 62 are random in a random UUID.
  func hasBit(_ bit: Int) -> Bool {
    withUnsafeBytes(of: uuid) { $0[15 - bit / 8] >> UInt8(bit % 8) & 1 == 1 }
  }
}
