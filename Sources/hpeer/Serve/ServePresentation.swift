import Foundation
import HealthOperations
import HealthStore
import PeerClient
import PeerDiscovery
import PeerProtocol
import PeerTrust
import Terminal

/// The messages of `hpeer serve`: with colours and a QR code for a person, as plain lines for a log.
struct ServePresentation: Sendable {
  /// The name by which others know this machine.
  var name: String
  var fingerprint: Fingerprint
  /// Whether a person reads and types. A code is shown only then.
  var interactive: Bool
  var showQR: Bool
  var pairingJSON: Bool
  /// The zone in which dates are shown.
  var zone: TimeZone

  func tell(_ event: ServeEvent) {
    switch event {
    case .listening(let port, let addresses, let counts): started(port: port, addresses: addresses, counts: counts)
    case .metrics(let port): Console.say("Metrics for Prometheus at http://127.0.0.1:\(port)/metrics")
    case .pairing(let event): tell(event)
    case .code(let code): show(code)
    case .codeUnavailable(let error): Console.warn("the code cannot be shown: \(error)")
    case .advertising(let event): tell(event)
    case .notAdvertised(let error): advertising("Not announced: \(error)", .serverNotAnnounced)
    }
  }

  private func started(port: Int, addresses: [String], counts: [TypeCount]) {
    let samples = HumanFormat.count(counts.reduce(0) { $0 + $1.samples }, "sample")
    let types = HumanFormat.count(counts.count, "type")
    let name = PlainText.escaped(name)
    let shared = "Sharing \(samples) of \(types) as \(name)"
    let isEmpty = counts.allSatisfy { $0.samples == 0 }
    guard interactive else {
      log("\(shared) on port \(port)", .serverStarted)
      if isEmpty { log(Self.empty) }
      log("Certificate \(fingerprint.hex)")
      log("No terminal, so no code is shown here: run `hpeer pair --wait` on this machine to pair another.")
      return
    }
    let places = addresses.map { PeerEndpoint(host: $0, port: port).description }
    Console.say("\(Console.style.bold(shared))\(Self.list(places, after: shared.count))")
    if isEmpty { Console.say(Console.style.yellow(Self.empty)) }
  }

  private static let empty = "The store is empty. You can fill it with `hpeer import` or `hpeer pull` while this runs."

  /// Returns ` at A, B`: as many places as fit into the window, and one in any case.
  private static func list(_ places: [String], after used: Int) -> String {
    guard var text = places.first.map({ " at \($0)" }) else { return "" }
    for place in places.dropFirst() {
      guard used + text.count + 2 + place.count < Console.capabilities.size.columns else { break }
      text += ", \(place)"
    }
    return text
  }

  private func show(_ code: WindowCode) {
    guard interactive else { return }
    let window = WindowPresentation(
      digits: code.code.digits, uri: code.payload.uri, expiresAt: code.expiresAt, scope: code.scope, zone: zone,
      name: code.name.map { PlainText.escaped($0) },
      // The owner is for this screen only: a log is read by others.
      owner: code.person.flatMap(PersonText.owner), keys: "n + Enter: new code   Ctrl-C: stop")
    for line in window.lines(showQR: showQR) { Console.say(line) }
    if pairingJSON { try? Console.print(code.payload.json) }
  }

  private func tell(_ event: PairingEvent) {
    switch event {
    case .windowOpened(let expiresAt):
      if !interactive { log("Pairing window open until \(expiresAt.localText)", .windowOpened) }
    case .windowClosed(.expired):
      tell("The code has expired.", .windowClosed, hint: "n + Enter makes a new one.")
    case .windowClosed(.openerGone):
      tell(
        "The pairing window is closed: `hpeer pair --wait` has ended.", .windowClosed,
        hint: "n + Enter makes a new code.")
    case .windowClosed: break
    case .windowLocked:
      tell(
        "Five wrong codes: pairing is locked.", .windowLocked, hint: "If that was you, n + Enter makes a new code.")
    case .codeRotated(let left):
      let text = "A wrong code was tried; \(HumanFormat.count(left, "attempt")) left."
      tell(text, .pairingFailed, hint: interactive ? "This is the new code:" : "")
    case .succeeded(_, let name, _):
      let text = "Paired with \(PlainText.escaped(name))."
      tell(
        interactive ? Console.style.green(text) : text, .pairingSucceeded, peer: name,
        hint: "`hpeer peers` says what it may read. n + Enter makes a code for another machine.")
    case .failed: break
    case .keptOut(let caller, let holders):
      tell(WindowPresentation.keptOut(caller, holders), .pairingKeptOut, hint: "")
    }
  }

  private func tell(_ event: AdvertisingEvent) {
    switch event {
    case .published(let name): advertising("Announced on this network as \(PlainText.escaped(name)).", .serverAnnounced)
    case .renamed(let from, let to):
      advertising(
        "Another machine is called \(PlainText.escaped(from)) already, so this one is announced as \(PlainText.escaped(to)).",
        .serverAnnounced)
    case .daemonUnavailable(let error): advertising("Not announced: \(error)", .serverNotAnnounced)
    }
  }

  private func advertising(_ text: String, _ event: JournalFields.Event) {
    if interactive { Console.say(Console.style.dim(text)) } else { log(text, event) }
  }

  private func tell(_ text: String, _ event: JournalFields.Event, peer: String? = nil, hint: String) {
    if interactive { Console.say("\(text) \(hint)") } else { log(text, event, peer: peer) }
  }

  private func log(_ text: String, _ event: JournalFields.Event? = nil, peer: String? = nil) {
    Console.log(text, .information, event.map { JournalFields($0, peer: peer) } ?? .none)
  }
}
