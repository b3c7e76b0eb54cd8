import Foundation
import Testing

@testable import Destinations

/// Tests of errors in a destination's settings that are reported when the file is read, without contacting the
/// destination.
@Suite struct SettingsValidationTests {
  private typealias Values = [(key: String, value: DestinationSettings.Value)]

  private static let file = "config.toml"

  /// Expects that settings are rejected because of their last value.
  private func expectRefused(_ kind: any Destination.Type, _ values: Values, saying part: String) throws {
    let name = kind.description.kind.rawValue
    let key = try #require(values.last?.key)
    var text = "[destination.a]\nkind = \"\(name)\"\n"
    for (key, value) in values { text += "\(key) = \(TOMLText.value(value))\n" }
    let told = #expect(throws: SettingsFileError.self, "\(name)") { try SettingsFile(text: text, path: Self.file) }

    let home = try DestinationHome()
    let values = values.reduce(into: [:]) { $0[$1.key] = $1.value }
    let mistake = #expect(throws: SettingsError.self, "\(name)") { try home.make(kind, values) }
    #expect(mistake?.key == key)
    let reason = try #require(mistake?.reason)
    #expect(reason.contains(part))
    #expect(told?.description == "\(Self.file):\(values.count + 2): destination.a.\(key): \(reason)")
  }

  @Test("is told with its line, in the words of a delivery")
  func wrong() throws {
    let url = (key: "url", value: DestinationSettings.Value.text("https://example.org/"))
    let broker = (key: "url", value: DestinationSettings.Value.text("mqtts://example.org"))
    let wrong: [(any Destination.Type, Values, String)] = [
      (MQTTDestination.self, [broker, ("person", .text("a/b"))], "lower-case letters"),
      (MQTTDestination.self, [broker, ("prefix", .text("a/#"))], "levels of a topic"),
      (MQTTDestination.self, [broker, ("discovery", .boolean(true)), ("discovery-prefix", .text("a//b"))], "levels"),
      (MQTTDestination.self, [broker, ("client-key", .text("/etc/key.pem"))], "belong together"),
      (MQTTDestination.self, [("url", .text("mqtts://example.org/topic"))], "and no more"),
      (MQTTDestination.self, [("url", .text("mqtt://example.org"))], "use mqtts://, or set send-unencrypted"),
      (HomeAssistantDestination.self, [url, ("person", .text("a/b"))], "lower-case letters"),
      (HomeAssistantDestination.self, [url, ("webhook-id", .text("a/b"))], "the last part"),
      (FolderDestination.self, [("path", .text("/srv")), ("prefix", .text("../x"))], "must be of letters"),
      (S3Destination.self, [("bucket", .text("health")), ("prefix", .text("a//b"))], "must be of letters"),
      (S3Destination.self, [("bucket", .text("He"))], "3 to 63"),
      (S3Destination.self, [("bucket", .text("health")), ("kms-key", .text("k"))], "aws:kms"),
      (
        S3Destination.self, [("bucket", .text("health")), ("endpoint", .text("http://example.org"))],
        "use https://, or set send-unencrypted"
      ),
      (WebDAVDestination.self, [url, ("prefix", .text("a/./b"))], "must be of letters"),
      (CalDAVDestination.self, [url, ("milestones", .table(["heartRate": "180"]))], "not added up"),
      (FHIRDestination.self, [url, ("subject", .text("Patient 123"))], "no reference"),
      (DailySummaryDestination.self, [url, ("metrics", .table(["x": "stepcont"]))], "no type"),
      (DailySummaryDestination.self, [url, ("headers", .table(["a b": "x"]))], "cannot be a header"),
      (
        WebhookDestination.self, [url, ("headers", .table(["Authorization": "Bearer x"]))], "put it into secret-headers"
      ),
      (WebhookDestination.self, [url, ("secret-headers", .table(["X-Key": "hunter2"]))], "and not be it"),
      (CommandDestination.self, [("command", .list([]))], "names no program"),
    ]
    for (kind, values, part) in wrong { try expectRefused(kind, values, saying: part) }
    for kind in DestinationKinds.all where kind.description.fields.first?.key == "url" && kind != MQTTDestination.self {
      try expectRefused(kind, [("url", .text("http://192.0.2.1/"))], saying: "use https://, or set send-unencrypted")
    }
  }

  @Test("of what belongs together both are there, unless a person is still to be asked")
  func missing() throws {
    let url = (key: "url", value: DestinationSettings.Value.text("https://example.org/"))
    let (user, secret) = (DestinationSettings.Value.text("ada"), DestinationSettings.Value.text("env:NOT_THERE"))
    let bucket = (key: "bucket", value: DestinationSettings.Value.text("health"))
    let wrong: [(any Destination.Type, Values, missing: String)] = [
      (HomeAssistantDestination.self, [url], "token"),
      (
        HomeAssistantDestination.self,
        [url, ("token", secret), ("states", .boolean(false)), ("history", .boolean(false))], "token"
      ),
      (CalDAVDestination.self, [url, ("username", user)], "password"),
      (CalDAVDestination.self, [url, ("password", secret)], "username"),
      (WebDAVDestination.self, [url, ("password", secret)], "username"),
      (S3Destination.self, [bucket, ("access-key", secret)], "secret-key"),
      (S3Destination.self, [bucket, ("secret-key", secret)], "access-key"),
    ]
    let home = try DestinationHome()
    for (kind, values, missing) in wrong {
      let name = kind.description.kind
      let told = #expect(throws: SettingsFileError.self, "\(name)") {
        try SettingsFile(text: "", path: Self.file).appending("a", kind: name, values)
      }
      let mistake = #expect(throws: SettingsError.self, "\(name)") {
        try home.make(kind, values.reduce(into: [:]) { $0[$1.key] = $1.value })
      }
      #expect(mistake?.key == missing)
      #expect(told?.key == "destination.a.\(missing)" && told?.reason == mistake?.reason)
      try DestinationSection.validate(values, of: kind)
    }
    #expect(throws: SettingsError.self) {
      try DestinationSection.validate(
        [url, ("username", user), ("milestones", .table(["heartRate": "180"]))], of: CalDAVDestination.self)
    }
  }

  @Test("is no mistake where only a secret or a file is missing, or a risk is accepted")
  func right() throws {
    let text = """
      [destination.broker]
      kind = "mqtt"
      url = "mqtt://example.org"
      send-unencrypted = true
      password = "env:NOT_THERE"

      [destination.bucket]
      kind = "s3"
      bucket = "health"
      endpoint = "http://127.0.0.1:9000"
      access-key = "file:/nowhere"
      secret-key = "file:/nowhere"
      prefix = "ada"

      [destination.program]
      kind = "command"
      command = ["/nowhere"]

      [destination.server]
      kind = "fhir"
      url = "https://example.org/fhir"
      ca = "/nowhere.pem"
      """
    #expect(try SettingsFile(text: text, path: Self.file).destinations.count == 4)
  }
}
