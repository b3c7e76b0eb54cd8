import Foundation
import HealthModel

/// A destination for S3 buckets and compatible stores, with a file of records for each type and day: see
/// ``DayFiles``.
struct S3Destination: Destination {
  static let description = DestinationDescription(
    DestinationKind("s3"),
    "A bucket of S3 or a store like it: a file for each type and day, as HealthPush writes them.",
    repetition: .idempotent, passesSamplesOn: true,
    fields: S3Bucket.fields + DayFiles.fields + AWSCredentialSource.fields + [
      SettingField(
        "encryption", .choice(["none", "AES256", "aws:kms"]), "How the store encrypts what it keeps.", default: "none"),
      SettingField("kms-key", .text, "The key of aws:kms, where it is not the account's own."),
      SettingField(
        "only-writer", .boolean,
        "Deliver also where the store does not protect what others write: nothing else writes there.", default: "false"),
    ] + HTTPService.fields)

  let capabilities = DestinationCapabilities(maximumChanges: 5_000, deadline: .seconds(900))
  private let client: S3Client
  private let files: DayFiles
  private let witness: DeliveryMarker
  private let isOnlyWriter: Bool

  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    _ = try DayFiles.Options(settings)
    _ = try encryption(settings)
    try HTTPService.requireAcceptedRisk(settings, url: try S3Bucket(settings).url, key: "endpoint")
    try AWSCredentialSource.validate(settings)
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    try self.init(settings, in: environment, credentials: AWSCredentialSource(settings, environment.secrets))
  }

  init(
    _ settings: DestinationSettings, in environment: DestinationEnvironment, credentials: AWSCredentialSource,
    now: @escaping @Sendable () -> Timestamp = { .now }
  ) throws(SettingsError) {
    let options = try DayFiles.Options(settings)
    let encryption = try Self.encryption(settings)
    client = try S3Client(settings, credentials, now: now)
    let store = S3ObjectStore(client, encryption: encryption, isOnlyWriter: settings.boolean("only-writer"))
    files = DayFiles(in: store, options, zone: environment.record.zone)
    witness = DeliveryMarker(
      in: store, folder: DayFiles.folder(options), record: environment.record.store.id,
      stateFolder: environment.stateFolder)
    isOnlyWriter = settings.boolean("only-writer")
  }

  private static func encryption(_ settings: DestinationSettings) throws(SettingsError) -> S3ObjectStore.Encryption {
    let encryption = try settings.text("encryption")
    let key = settings.optionalText("kms-key")
    if key != nil, encryption != "aws:kms" {
      throw SettingsError("kms-key", .invalid("belongs to encryption = \"aws:kms\""))
    }
    return encryption == "aws:kms" ? .kms(key: key) : encryption == "AES256" ? .s3 : .none
  }

  func check() async throws { try await files.check(needsConditions: !isOnlyWriter) }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    Delivery(refused: try await files.deliver(batch))
  }

  func forget(from start: Timestamp?) async throws { try await witness.forget() }

  func examine() async throws -> PlaceState { try await witness.examine() }

  func confirm(_ key: DeliveryKey) async throws { try await witness.confirm(key) }

  func close() async { await client.close() }
}
