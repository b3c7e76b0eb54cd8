import Foundation
import HealthModel

/// Which samples of one second are others that were deleted and brought back.
struct RestorationLines {
  /// By the UUID of a sample that is here, that of the deleted one which it is.
  private(set) var roots: [UUID: UUID] = [:]
  /// The deleted ones that were brought back, and those that are such a restoration deleted again.
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

  /// Whether a tombstone stands for something that is not here in any form.
  func isGone(_ uuid: UUID) -> Bool { !others.contains(uuid) }
}
