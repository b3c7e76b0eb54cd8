import Foundation
import HealthStore
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
  var scope: PeerScope?

  func started(name: String, port: Int, addresses: [String], counts: [TypeCount], fingerprint: Fingerprint) {
    let samples = HumanFormat.count(counts.reduce(0) { $0 + $1.samples }, "sample")
    let types = HumanFormat.count(counts.count, "type")
    let name = PlainText.escaped(name)
    let shared = "Sharing \(samples) of \(types) as \(name)"
    let places = addresses.map { $0.contains(":") ? "[\($0)]:\(port)" : "\($0):\(port)" }
    let isEmpty = counts.allSatisfy { $0.samples == 0 }
    guard interactive else {
      log("\(shared) on port \(port)")
      if isEmpty { log(Self.empty) }
      log("Certificate \(fingerprint.hex)")
      log("No terminal, so no code is shown here: run `hpeer pair --wait` on this machine to pair another.")
      return
    }
    Console.say("\(Console.style.bold(shared)) at \(places.prefix(3).joined(separator: ", "))")
    if isEmpty { Console.say(Console.style.yellow(Self.empty)) }
    Console.say("SHA-256 \(fingerprint.grouped)")
    if let scope { Console.say("A machine that pairs may read \(PeersList.text(scope)).") }
    Console.say(
      "On the other machine: \(Console.style.bold("hpeer pull \(name)"))     n + Enter: new code     Ctrl-C: stop")
  }

  private static let empty =
    "This store is empty: `hpeer import export.zip` or `hpeer pull` on this machine fills it, also while it is served."

  func code(_ code: PairingCode, payload: PairingPayload, expiresAt: Date) {
    guard interactive else { return }
    let lines = WindowPresentation.lines(digits: code.digits, uri: payload.uri, expiresAt: expiresAt, showQR: showQR)
    for line in lines { Console.say(line) }
    if pairingJSON { try? Console.print(payload.json) }
  }

  func event(_ event: PairingEvent) {
    switch event {
    case .windowOpened(let expiresAt):
      if !interactive { log("Pairing window open until \(expiresAt.localText)") }
    case .windowClosed(.expired):
      tell("The code has expired.", hint: "n + Enter makes a new one.")
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
