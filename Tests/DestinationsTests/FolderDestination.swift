import Destinations
import Foundation
import HealthModel

/// A file for each sample: all that a destination must say of itself.
struct FolderDestination: Destination {
  static let kind = DestinationKind("folder")
  let folder: URL
  let capabilities = DestinationCapabilities(maximumChanges: 7)

  func check() throws { _ = try FileManager.default.contentsOfDirectory(atPath: folder.path) }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) throws -> Delivery {
    for tombstone in batch.deletions { try? FileManager.default.removeItem(at: file(tombstone.sample.uuid)) }
    for sample in try batch.additions() { try JSONEncoder().encode(sample).write(to: file(sample.uuid)) }
    return Delivery()
  }

  private func file(_ uuid: UUID) -> URL { folder.appending(path: "\(uuid).json") }
}
