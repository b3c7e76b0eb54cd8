import ArgumentParser
import Destinations
import Foundation
import HealthOperations
import OperatingSystem
import PeerServer
import Terminal

/// The options for serving an inbox, shared by commands.
struct InboxOptions: ParsableArguments {
  @Flag(help: "Receive data from the apps of `hpeer inbox`, on a separate port.")
  var inbox = false
  @Option(help: "The port of the inbox; 0 picks a free one.")
  var inboxPort = InboxServer.defaultPort
  @Option(
    help: ArgumentHelp(
      "With --inbox-key: a certificate that phones trust already, with those after it (PEM); read again when it changes.",
      valueName: "file"))
  var inboxCert: String?
  @Option(help: ArgumentHelp("The key of --inbox-cert (PEM).", valueName: "file"))
  var inboxKey: String?
  @Flag(help: "Receive HTTP on 127.0.0.1 only, from a reverse proxy on this machine that has a certificate.")
  var inboxHttp = false
  @Flag(help: "Receive unencrypted HTTP: anyone on the network can read the secrets and the data.")
  var inboxInsecureHttp = false

  func validate() throws {
    try ListeningPort.require(inboxPort, "--inbox-port")
    guard (inboxCert == nil) == (inboxKey == nil) else {
      throw ValidationError("--inbox-cert and --inbox-key belong together.")
    }
    guard [inboxCert != nil, inboxHttp, inboxInsecureHttp].filter({ $0 }).count <= 1 else {
      throw ValidationError("Give one of --inbox-cert, --inbox-http and --inbox-insecure-http.")
    }
  }

  /// Returns the settings of the inbox; `nil` if none is served.
  ///
  /// - Parameter host: The address to bind to; `nil` for all.
  func settings(host: String?) -> InboxSettings? {
    guard inbox else { return nil }
    var settings = InboxSettings()
    (settings.host, settings.port) = (host, inboxPort)
    if let inboxCert, let inboxKey { settings.security = .files(certificate: inboxCert, key: inboxKey) }
    if inboxHttp { settings.security = .proxied }
    if inboxInsecureHttp { settings.security = .insecure }
    return settings
  }
}

/// The address to which apps send, as far as this machine's settings say it.
struct InboxAddress {
  var scheme: String
  var host: String
  var port: Int
  /// The certificate that phones are shown; `nil` if the settings do not say which file it is.
  var security: InboxSettings.Security?

  /// Creates the place from `[run]` and `[serve]` of the settings.
  ///
  /// - Throws: `SettingsFileError` if a table has a mistake, such as a number that is no port.
  init(_ settings: SettingsFile, host: String?) throws {
    let tables = ["run", "serve"].compactMap { name in settings.commands.first { $0.command == name } }
    func value(_ key: String) -> DestinationSettings.Value? { tables.lazy.compactMap { $0.values[key] }.first }
    let isPlain = value("inbox-http") == .boolean(true) || value("inbox-insecure-http") == .boolean(true)
    scheme = isPlain ? "http" : "https"
    func text(_ key: String) -> String? { if case .text(let text)? = value(key) { text } else { nil } }
    security = isPlain ? .proxied : .ownAuthority
    if let certificate = text("inbox-cert"), let key = text("inbox-key") {
      // A relative path depends on where the server was started.
      let isKnown = certificate.hasPrefix("/") && key.hasPrefix("/")
      security = isKnown ? .files(certificate: certificate, key: key) : nil
    }
    self.host = host ?? "\(Hostname.short.lowercased()).local"
    port = InboxServer.defaultPort
    guard let table = tables.first(where: { $0.values["inbox-port"] != nil }) else { return }
    let values = try CommandSettings.checked(table, in: settings)
    port = try ListeningPort.port(values["inbox-port"], of: "inbox-port") ?? port
  }

  /// Returns the address to type into an app.
  func url(of sender: String) -> String {
    let named = host.contains(":") ? "[\(host)]" : host
    return "\(scheme)://\(named):\(port)/inbox/\(sender)"
  }
}
