import ArgumentParser
import HealthOperations
import PeerServer

/// Whether and how an inbox is served, by whichever command.
struct InboxOptions: ParsableArguments {
  @Flag(help: "Take what the apps of `hpeer inbox` send, on a port of its own.")
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
  @Flag(help: "Take HTTP on 127.0.0.1 only, from a reverse proxy on this machine that has a certificate.")
  var inboxHttp = false
  @Flag(help: "Take HTTP from everyone: whoever is on the network can read the secrets and what is sent.")
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

  /// `nil` where none is served.
  ///
  /// - Parameter host: the address to bind; `nil` for all.
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
