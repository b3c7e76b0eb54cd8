import Foundation
import HealthModel

/// The samples of one second that are restored copies of deleted ones.
struct RestorationLines {
  /// The UUID of the deleted sample, by the UUID of its restored copy.
  private(set) var roots: [UUID: UUID] = [:]
  /// The deleted samples that were restored, and restored copies that were deleted again.
  private var others: Set<UUID> = []

  init(_ deleted: [UUID], present: [UUID]) {
    let (graves, present) = (Set(deleted), Set(present))
    for root in deleted {
      for ordinal in 0...deleted.count {
        let restored = SampleIdentity.uuid(ofRestored: root, ordinal: ordinal)
        if graves.contains(restored) {
          others.insert(restored)
          continue
        }
        if present.contains(restored) {
          roots[restored] = root
          others.insert(root)
        }
        break
      }
    }
  }

  /// Returns whether a tombstone's sample exists in no form.
  func isGone(_ uuid: UUID) -> Bool { !others.contains(uuid) }
}
