import Foundation
import GRDB
import HealthModel

/// The other identities, with or without their side files, of records that share a key.
///
/// It is unknown which record without a file corresponds to which record with one. Therefore each record that is not
/// known under its own identity is paired with any record that is stored or deleted.
enum SideFileTwins {
  /// Returns the identity with or without the side file, by the identity of each record.
  ///
  /// - Parameter ordinals: the ordinals of the group's samples.
  static func others(of group: TwinGroup, ordinals: [Int], _ db: Database) throws -> [UUID: SideFileIdentity] {
    var others: [UUID: SideFileIdentity] = [:]
    guard let sample = group.samples.first, let other = group.sideFileIdentity(ordinal: 0) else { return others }
    func identity(_ ordinal: Int) -> SideFileIdentity { group.sideFileIdentity(ordinal: ordinal) ?? other }
    if other.isBare {
      for ordinal in ordinals { others[group.key.uuid(ordinal: ordinal)] = identity(ordinal) }
      return others
    }
    guard let type = try group.key.type.id(in: db) else { return others }
    func has(_ table: KnownIdentities.Table, _ uuid: UUID) throws -> Bool {
      try KnownIdentities.has(table, uuid, start: sample.start.microseconds, type: type, db)
    }
    var known: [Int] = []
    var ordinal = 0
    while true {
      let uuid = identity(ordinal).uuid
      if try has(.sample, uuid) || has(.tombstone, uuid) {
        known.append(ordinal)
      } else if ordinal >= group.samples.count {
        break
      }
      ordinal += 1
    }
    var open: [Int] = []
    for ordinal in ordinals where try !has(.sample, group.key.uuid(ordinal: ordinal)) {
      if let index = known.firstIndex(of: ordinal) {
        known.remove(at: index)
        others[group.key.uuid(ordinal: ordinal)] = identity(ordinal)
      } else {
        open.append(ordinal)
      }
    }
    for (ordinal, whole) in zip(open, known) { others[group.key.uuid(ordinal: ordinal)] = identity(whole) }
    return others
  }
}

extension TwinGroup {
  /// Whether the records may have files beside the XML.
  var hasSideFiles: Bool { sideFileIdentity(ordinal: 0) != nil }

  /// Returns the other identity of a record; see ``SampleKey/sideFileIdentity(_:ordinal:)``.
  func sideFileIdentity(ordinal: Int) -> SideFileIdentity? {
    samples.first.flatMap { key.sideFileIdentity($0.payload, ordinal: ordinal) }
  }
}
