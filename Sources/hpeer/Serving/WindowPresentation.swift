import Foundation
import PeerProtocol
import PeerServer
import Terminal

/// How a pairing window looks on a terminal.
enum WindowPresentation {
  /// The QR code with the code and its time left below, at most 24 lines in all.
  static func lines(digits: String, uri: String, expiresAt: Date, showQR: Bool = true) -> [String] {
    let capabilities = Console.capabilities
    let left = max(0, expiresAt.timeIntervalSinceNow)
    let code = "\(digits.prefix(3)) \(digits.dropFirst(3))"
    var lines: [String] = []
    if showQR, let style = QRCode.RenderingStyle(for: .error, of: capabilities), let qr = try? QRCode(uri),
      qr.fits(capabilities.size, style: style)
    {
      lines = qr.rendered(style: style)
    } else {
      lines.append(uri)
    }
    lines.append(
      "Code: \(Console.style.bold(code))   (valid for \(HumanFormat.countdown(.seconds(left.rounded()))))")
    return lines
  }

  /// What a running server said to `hpeer pair --wait`.
  static func show(_ event: ControlEvent, pairingJSON: Bool) throws {
    switch event {
    case .code(let digits, let uri, let json, let expiresAt, let attemptsLeft):
      if let attemptsLeft {
        Console.warn(
          "someone tried a wrong code: here is a new one (\(HumanFormat.count(attemptsLeft, "attempt")) left).")
      }
      for line in lines(digits: digits, uri: uri, expiresAt: expiresAt) { Console.say(line) }
      if pairingJSON { try Console.print(json) }
    case .paired(let name): Console.say("\(Console.style.green("Paired")) with \(PlainText.escaped(name)).")
    case .closed, .locked, .failed: break
    }
  }
}
