import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust
import Terminal

/// What `hpeer serve` says: with colours and a QR code to a person, as plain lines to a log.
struct ServePresentation: Sendable {
  /// A person reads and types: only then a code is shown.
  var interactive: Bool
  var showQR: Bool
  var pairingJSON: Bool
  /// What a machine that pairs in a window opened here may read; nil for what it may read already, or everything.
  var scope: SampleFilter?

  func started(
    name: String, port: Int, addresses: [String], counts: [TypeCount], fingerprint: Fingerprint
  ) {
    let samples = HumanFormat.count(counts.reduce(0) { $0 + $1.samples }, "sample")
    let types = HumanFormat.count(counts.count, "type")
    let name = PlainText.escaped(name)
    let shared = "Sharing \(samples) of \(types) as \(name)"
    let isEmpty = counts.allSatisfy { $0.samples == 0 }
    guard interactive else {
      log("\(shared) on port \(port)")
      if isEmpty { log(Self.empty) }
      log("Certificate \(fingerprint.hex)")
      log("No terminal, so no code is shown here: run `hpeer pair --wait` on this machine to pair another.")
      return
    }
    let places = addresses.map { PeerEndpoint(host: $0, port: port).description }
    Console.say("\(Console.style.bold(shared))\(Self.list(places, after: shared.count))")
    if isEmpty { Console.say(Console.style.yellow(Self.empty)) }
  }

  private static let empty = "This store is empty: fill it with `hpeer import` or `hpeer pull`, also now."

  /// ` at A, B`, as many as fit into the window, and one in any case.
  private static func list(_ places: [String], after used: Int) -> String {
    guard var text = places.first.map({ " at \($0)" }) else { return "" }
    for place in places.dropFirst() {
      guard used + text.count + 2 + place.count < Console.capabilities.size.columns else { break }
      text += ", \(place)"
    }
    return text
  }

  /// - Parameters:
  ///   - scope: what the open window is for, which may have been opened elsewhere.
  ///   - announced: what this machine can be found as; `nil` if it is not announced.
  ///   - owner: whose record it is. For this screen only: a log is read by others.
  func code(
    _ code: PairingCode, payload: PairingPayload, expiresAt: Date, scope: SampleFilter?, announced: String?,
    owner: String?
  ) {
    guard interactive else { return }
    let window = WindowPresentation(
      digits: code.digits, uri: payload.uri, expiresAt: expiresAt, scope: scope,
      name: announced.map { PlainText.escaped($0) }, owner: owner, keys: "n + Enter: new code   Ctrl-C: stop")
    for line in window.lines(showQR: showQR) { Console.say(line) }
    if pairingJSON { try? Console.print(payload.json) }
  }

  func event(_ event: PairingEvent) {
    switch event {
    case .windowOpened(let expiresAt):
      if !interactive { log("Pairing window open until \(expiresAt.localText)") }
    case .windowClosed(.expired):
      tell("The code has expired.", hint: "n + Enter makes a new one.")
    case .windowClosed(.openerGone):
      tell("The pairing window is closed: `hpeer pair --wait` has ended.", hint: "n + Enter makes a new code.")
    case .windowClosed: break
    case .windowLocked:
      tell("Five wrong codes: pairing is locked.", hint: "If that was you, n + Enter makes a new code.")
    case .codeRotated(let left):
      let text = "A wrong code was tried; \(HumanFormat.count(left, "attempt")) left."
      tell(text, hint: interactive ? "This is the new code:" : "")
    case .succeeded(_, let name, _):
      let text = "Paired with \(PlainText.escaped(name))."
      tell(
        interactive ? Console.style.green(text) : text,
        hint: "`hpeer peers` says what it may read. n + Enter makes a code for another machine.")
    case .failed: break
    case .keptOut(let caller, let holders):
      tell(WindowPresentation.keptOut(caller, holders), hint: "")
    }
  }

  func advertising(_ text: String) {
    if interactive { Console.say(Console.style.dim(text)) } else { log(text) }
  }

  private func tell(_ text: String, hint: String) {
    if interactive { Console.say("\(text) \(hint)") } else { log(text) }
  }

  private func log(_ text: String) {
    Console.say("\(Date().localText) \(text)")
  }
}
