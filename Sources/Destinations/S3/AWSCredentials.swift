import Foundation
import HealthModel

/// The credentials for S3. Their description never contains the secret.
struct AWSCredentials: Hashable, Sendable {
  var accessKey: String
  var secretKey: String
  /// The session token of temporary credentials, which are valid for some hours.
  var sessionToken: String?
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible {
  var description: String { "AWSCredentials(\(accessKey.prefix(4))…)" }
  var debugDescription: String { description }
}

/// A source of credentials: the settings, the environment, or a profile of `~/.aws/credentials`, in that order.
struct AWSCredentialSource: Sendable {
  static let fields = [
    SettingField(
      "access-key", .secret,
      "Where the access key is. Without it: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, else a profile."),
    SettingField("secret-key", .secret, "Where the secret access key is."),
    SettingField("session-token", .secret, "Where the session token of temporary credentials is."),
    SettingField("profile", .text, "The profile of ~/.aws/credentials.", default: "default"),
  ]

  private let settings: DestinationSettings
  private let secrets: SecretStore
  private let environment: [String: String]

  init(
    _ settings: DestinationSettings, _ secrets: SecretStore,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    (self.settings, self.secrets, self.environment) = (settings, secrets, environment)
  }

  /// Checks that the settings have both keys or neither. Throws ``SettingsError``.
  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    switch (settings.has("access-key"), settings.has("secret-key")) {
    case (true, false):
      throw SettingsError("secret-key", .missing("the access key has a secret one, and this says where it is."))
    case (false, true):
      throw SettingsError("access-key", .missing("the secret key belongs to one, and this says where it is."))
    default: break
    }
  }

  /// Reads the current credentials. Blocking.
  ///
  /// - Throws: ``SettingsError`` if there are none or only one of the keys.
  func read() throws(SettingsError) -> AWSCredentials {
    try Self.validate(settings)
    if let accessKey = try secrets.read("access-key", of: settings),
      let secretKey = try secrets.read("secret-key", of: settings)
    {
      return AWSCredentials(
        accessKey: accessKey, secretKey: secretKey, sessionToken: try secrets.read("session-token", of: settings))
    }
    if !settings.has("profile"), let accessKey = environment["AWS_ACCESS_KEY_ID"],
      let secretKey = environment["AWS_SECRET_ACCESS_KEY"], !accessKey.isEmpty, !secretKey.isEmpty
    {
      return AWSCredentials(
        accessKey: accessKey, secretKey: secretKey,
        sessionToken: environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 })
    }
    return try profile()
  }

  private func profile() throws(SettingsError) -> AWSCredentials {
    var name = try settings.text("profile")
    if !settings.has("profile"), let chosen = environment["AWS_PROFILE"], !chosen.isEmpty { name = chosen }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
    let path = environment["AWS_SHARED_CREDENTIALS_FILE"] ?? "\(home)/.aws/credentials"
    guard let text = try? String(contentsOfFile: path, encoding: .utf8), text.utf8.count <= 1 << 20 else {
      throw SettingsError(
        "access-key",
        .missing("there is no access key in the settings, in AWS_ACCESS_KEY_ID, or in \(path)."))
    }
    let values = Self.section(name, of: text)
    guard let accessKey = values["aws_access_key_id"], let secretKey = values["aws_secret_access_key"],
      !accessKey.isEmpty, !secretKey.isEmpty
    else {
      throw SettingsError("profile", .invalid("is \(name), and \(path) has no such profile with keys"))
    }
    return AWSCredentials(accessKey: accessKey, secretKey: secretKey, sessionToken: values["aws_session_token"])
  }

  /// Returns the keys and values of the section `[name]`.
  static func section(_ name: String, of text: String) -> [String: String] {
    var values: [String: String] = [:]
    var isInSection = false
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.hasPrefix("#") || line.hasPrefix(";") { continue }
      if line.hasPrefix("["), line.hasSuffix("]") {
        isInSection = line.dropFirst().dropLast().trimmingCharacters(in: .whitespaces) == name
      } else if isInSection, let equals = line.firstIndex(of: "=") {
        let key = line[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
        values[key] = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
      }
    }
    return values
  }
}
