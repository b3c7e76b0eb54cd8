import OperatingSystem
import HealthModel

/// A destination for day files in a folder, in HealthPush's bucket layout. Useful for a mounted folder, or for a
/// folder that a program such as Syncthing synchronizes.
public struct FolderDestination: Destination {
  public static let description = DestinationDescription(
    DestinationKind("folder"), "Writes files by type and day into a folder.", repetition: .idempotent,
    passesSamplesOn: true,
    fields: [
      SettingField(
        "path", .path, "The folder, which must be there: a missing one may be a disk that is not.", required: true)
    ] + DayFiles.fields)

  /// The capabilities. Batches are large, because each batch rewrites the files of its days.
  public let capabilities = DestinationCapabilities(maximumChanges: 10_000, deadline: .seconds(300))
  private let store: FolderStore
  private let files: DayFiles
  private let options: DayFiles.Options
  private let witness: DeliveryMarker

  public static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    _ = try DayFiles.Options(settings)
  }

  public init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    options = try DayFiles.Options(settings)
    let path = UserPath.absolute(try settings.text("path"))
    store = FolderStore(
      path: path, owner: String(environment.record.store.id.uuidString.lowercased().prefix(8)),
      memory: FolderMemory(of: path, landmark: DayFiles.folder(options), stateFolder: environment.stateFolder))
    files = DayFiles(in: store, options, zone: environment.record.zone)
    witness = DeliveryMarker(
      in: store, folder: DayFiles.folder(options), record: environment.record.store.id,
      stateFolder: environment.stateFolder)
  }

  public func forget(from start: Timestamp?) async throws {
    try await witness.forget()
    try await store.forget()
  }

  public func examine() async throws -> PlaceState { try await witness.examine() }

  public func confirm(_ key: DeliveryKey) async throws { try await witness.confirm(key) }

  public func check() async throws {
    try await ObjectStoreProbe.run(store, prefix: options.prefix, needsConditions: true)
  }

  public func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    Delivery(refused: try await files.deliver(batch))
  }
}
