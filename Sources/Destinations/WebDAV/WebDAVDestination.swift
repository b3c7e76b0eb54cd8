import Foundation
import HealthModel

/// A destination for WebDAV servers such as Nextcloud, with a file for each type and day: see ``DayFiles``.
struct WebDAVDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("webdav"), "A WebDAV server: a file for each type and day, as HealthPush writes them.",
    repetition: .idempotent, passesSamplesOn: true,
    fields: [
      SettingField(
        "url", .url(schemes: ["https", "http"]), "The collection, which must exist: https://example.org/dav/health/.",
        required: true),
      SettingField("username", .text, "The name to log in with."),
      SettingField("password", .secret, "Where the password is."),
    ] + DayFiles.fields + [
      SettingField(
        "only-writer", .boolean,
        "Deliver also where the server does not protect what others write: nothing else writes there.", default: "false"
      )
    ] + HTTPService.fields)

  let capabilities = DestinationCapabilities(maximumChanges: 5_000, deadline: .seconds(900))
  private let service: HTTPService
  private let files: DayFiles
  /// The object store, which tests use directly.
  let store: WebDAVObjectStore
  private let witness: DeliveryMarker
  private let isOnlyWriter: Bool

  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    _ = try DayFiles.Options(settings)
    try HTTPService.requireAcceptedRisk(settings, url: try settings.url("url"))
    try requireUser(settings)
  }

  private static func requireUser(_ settings: DestinationSettings) throws(SettingsError) {
    if !settings.has("username"), settings.has("password") {
      throw SettingsError("username", .missing("a password belongs to a name to log in with."))
    }
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    let options = try DayFiles.Options(settings)
    let url = try settings.url("url")
    service = try HTTPService(settings, url: url, timeout: .seconds(120))
    let authorization = try Self.authorization(settings, environment.secrets)
    isOnlyWriter = settings.boolean("only-writer")
    store = WebDAVObjectStore(
      service, url: url, clock: environment.clock, isOnlyWriter: isOnlyWriter, probePrefix: options.prefix,
      stateFolder: environment.stateFolder, authorization: authorization)
    files = DayFiles(in: store, options, zone: environment.record.zone)
    witness = DeliveryMarker(
      in: store, folder: DayFiles.folder(options), record: environment.record.store.id,
      stateFolder: environment.stateFolder)
  }

  /// Returns a closure that reads the credentials for each request, so that a changed password takes effect at once.
  private static func authorization(
    _ settings: DestinationSettings, _ secrets: SecretStore
  ) throws(SettingsError) -> @Sendable () throws(SettingsError) -> [(name: String, value: String)] {
    try requireUser(settings)
    let user = settings.optionalText("username")
    let authorization = { @Sendable () throws(SettingsError) -> [(name: String, value: String)] in
      guard let user else { return [] }
      return [HTTPHeaderText.basic(user, try secrets.read("password", of: settings) ?? "")]
    }
    _ = try authorization()
    return authorization
  }

  /// Returns an object store for reading only.
  static func reader(_ settings: DestinationSettings, _ secrets: SecretStore) throws(SettingsError) -> WebDAVObjectStore
  {
    let url = try settings.url("url")
    return WebDAVObjectStore(
      try HTTPService(settings, url: url, timeout: .seconds(120)), url: url, clock: ContinuousClock(),
      isOnlyWriter: true, stateFolder: "", authorization: try authorization(settings, secrets))
  }

  func check() async throws { try await files.check(needsConditions: !isOnlyWriter) }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    Delivery(refused: try await files.deliver(batch))
  }

  func forget(from start: Timestamp?) async throws { try await witness.forget() }

  func examine() async throws -> PlaceState { try await witness.examine() }

  func confirm(_ key: DeliveryKey) async throws { try await witness.confirm(key) }

  func close() async { await service.close() }
}
