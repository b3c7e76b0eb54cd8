import Destinations
import Foundation
import HealthOperations
import OperatingSystem
import PeerServer
import Terminal

/// Where apps send to, so far as this machine's settings say it.
struct InboxPlace {
  var scheme: String
  var host: String
  var port: Int
  /// What phones are shown; `nil` where the settings do not say which file it is.
  var security: InboxSettings.Security?

  /// What `[run]` and `[serve]` of the settings say.
  ///
  /// - Throws: `SettingsFileError` where a table has a mistake, such as a port that there is not.
  init(_ settings: SettingsFile, host: String?) throws {
    let tables = ["run", "serve"].compactMap { name in settings.commands.first { $0.command == name } }
    func value(_ key: String) -> DestinationSettings.Value? { tables.lazy.compactMap { $0.values[key] }.first }
    let isPlain = value("inbox-http") == .boolean(true) || value("inbox-insecure-http") == .boolean(true)
    scheme = isPlain ? "http" : "https"
    func text(_ key: String) -> String? { if case .text(let text)? = value(key) { text } else { nil } }
    security = isPlain ? .proxied : .ownAuthority
    if let certificate = text("inbox-cert"), let key = text("inbox-key") {
      // A relative path is one of wherever the server was started.
      let isKnown = certificate.hasPrefix("/") && key.hasPrefix("/")
      security = isKnown ? .files(certificate: certificate, key: key) : nil
    }
    self.host = host ?? "\(Hostname.short.lowercased()).local"
    port = InboxServer.defaultPort
    guard let table = tables.first(where: { $0.values["inbox-port"] != nil }) else { return }
    let values = try CommandSettings.checked(table, in: settings)
    port = try ListeningPort.port(values["inbox-port"], of: "inbox-port") ?? port
  }

  /// What to type into an app.
  func url(of sender: String) -> String {
    let named = host.contains(":") ? "[\(host)]" : host
    return "\(scheme)://\(named):\(port)/inbox/\(sender)"
  }
}
