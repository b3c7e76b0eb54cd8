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

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    folder = URL(filePath: try settings.text("folder"))
  }

  func check() throws(DeliveryError) {
    let probe = folder.appending(path: "probe")
    do {
      try Data().write(to: probe)
      try FileManager.default.removeItem(at: probe)
    } catch {
      throw .unusable(reason: "no file can be written to \(folder.path)")
    }
  }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) throws -> Delivery {
    for tombstone in batch.deletions {
      let file = file(tombstone.sample.uuid)
      // A batch that comes again has deleted it already.
      if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
    }
    for sample in try batch.additions() {
      try JSONEncoder().encode(sample).write(to: file(sample.uuid), options: .atomic)
    }
    return Delivery()
  }

  private func file(_ uuid: UUID) -> URL { folder.appending(path: "\(uuid).json") }
}
