import Foundation
import HealthOperations
import PeerServer
import Terminal

/// What is said of an inbox that is served.
enum InboxPresentation {
  static func listening(_ settings: InboxSettings, port: Int) {
    let how =
      switch settings.security {
      case .ownAuthority: "with this machine's own certificate: `hpeer inbox profile` has a phone trust it"
      case .files(let certificate, _): "with the certificate in \(PlainText.escaped(certificate))"
      case .proxied: "as HTTP from this machine only, for a reverse proxy"
      case .insecure: "as HTTP"
      }
    Console.say("Inbox open on port \(port), \(how).", .information, EntryFields(.inboxStarted))
    if settings.security == .insecure {
      Console.warn("whoever is on this network can read the secrets of the inbox and everything that is sent to it.")
    }
  }
}
