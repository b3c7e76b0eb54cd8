import Destinations
import Foundation
import HealthModel

/// A file for each sample: all that a destination must say of itself.
struct FilesDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("files"), "A file for each sample.", repetition: .idempotent,
    fields: [SettingField("folder", .path, "Where the files are.", required: true)])
  let folder: URL
  let capabilities = DestinationCapabilities(maximumChanges: 7)

  init(folder: URL) { self.folder = folder }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    folder = URL(filePath: try settings.text("folder"))
  }

  func check() throws { _ = try FileManager.default.contentsOfDirectory(atPath: folder.path) }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) throws -> Delivery {
    for tombstone in batch.deletions { try? FileManager.default.removeItem(at: file(tombstone.sample.uuid)) }
    for sample in try batch.additions() { try JSONEncoder().encode(sample).write(to: file(sample.uuid)) }
    return Delivery()
  }

  private func file(_ uuid: UUID) -> URL { folder.appending(path: "\(uuid).json") }
}
