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

  /// What `[run]` and `[serve]` of the settings say.
  init(_ settings: SettingsFile, host: String?) {
    let tables = ["run", "serve"].compactMap { name in settings.commands.first { $0.command == name }?.values }
    func value(_ key: String) -> DestinationSettings.Value? { tables.lazy.compactMap { $0[key] }.first }
    let isPlain = value("inbox-http") == .boolean(true) || value("inbox-insecure-http") == .boolean(true)
    scheme = isPlain ? "http" : "https"
    port = if case .integer(let port)? = value("inbox-port") { Int(port) } else { InboxServer.defaultPort }
    self.host = host ?? "\(Hostname.short.lowercased()).local"
  }

  /// What to type into an app.
  func url(of sender: String) -> String {
    let named = host.contains(":") ? "[\(host)]" : host
    return "\(scheme)://\(named):\(port)/inbox/\(sender)"
  }
}
