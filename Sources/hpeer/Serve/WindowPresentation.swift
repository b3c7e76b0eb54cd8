import Foundation
import HealthModel
import HealthOperations
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerServer
import PeerTrust
import ServiceLifecycle
import Terminal

/// An open pairing window, for a terminal.
struct WindowPresentation {
  var digits: String
  var uri: String
  var expiresAt: Date
  /// The scope of the window; `nil` leaves a machine that was paired before its previous scope.
  var scope: SampleFilter?
  /// The zone in which the dates of the scope are shown.
  var zone: TimeZone
  /// The name under which this machine is announced; `nil` if others cannot find it by name.
  var name: String?
  /// The owner of the record that a machine that pairs will read.
  var owner: String?
  /// The keys that can be typed here.
  var keys: String?

  /// Returns the QR code with what to type on the other machine beside it, so that an 80x24 terminal shows both. If
  /// there is no room, returns the text of the QR code instead.
  func lines(showQR: Bool = true) -> [String] {
    let capabilities = Console.capabilities
    let size = TerminalSize.ofWindow(of: [.error]) ?? capabilities.size
    if showQR, let style = QRCode.RenderingStyle(for: .error, of: capabilities), let code = try? QRCode(uri),
      let lines = code.rendered(with: text, in: size, style: style, textStyle: Console.style)
    {
      return lines
    }
    // The text that says what the code opens comes before the code.
    let lines = text.filter { !$0.text.isEmpty }.map { $0.painted(Console.style) }
    return [lines[0], uri] + lines.dropFirst()
  }

  private var text: [TextLine] {
    let left = HumanFormat.countdown(.seconds(max(0, expiresAt.timeIntervalSinceNow).rounded()))
    var lines = [
      TextLine(ScopeText.ofCode(scope, in: zone)), TextLine(""),
      TextLine("Code: \(digits.prefix(3)) \(digits.dropFirst(3))   (valid for \(left))", .bold), TextLine(""),
      TextLine("On the other machine:"),
    ]
    if let name { lines.append(TextLine("  hpeer pull \(ShellWord.quoted(name))", .bold)) }
    if let payload = try? PairingPayload.parse(uri) {
      if name != nil { lines.append(TextLine("or, if it is not found there:")) }
      lines += [
        TextLine("  hpeer pull --host \(ShellWord.quoted(Self.address(payload)))", name == nil ? .bold : nil),
        TextLine(""), TextLine("SHA-256 \(payload.fingerprint.grouped)", .dim),
      ]
    }
    if let owner { lines += [TextLine(""), TextLine(owner)] }
    if let keys { lines += [TextLine(""), TextLine(keys)] }
    return lines
  }

  /// Returns the shortest address that can be typed: every column counts beside the QR code.
  private static func address(_ payload: PairingPayload) -> String {
    if Int(payload.port) == Route.defaultPort { return payload.host }
    return PeerEndpoint(host: payload.host, port: Int(payload.port)).description
  }

  /// Shows what a running server has sent to `hpeer pair --wait`.
  ///
  /// - Parameters:
  ///   - scope: The scope that the window was asked for.
  ///   - zone: See ``zone``.
  static func show(_ event: ControlEvent, scope: SampleFilter?, in zone: TimeZone, pairingJSON: Bool) throws {
    switch event {
    case .code(let digits, let uri, let json, let expiresAt, let attemptsLeft, let name):
      if let attemptsLeft {
        Console.warn(
          "someone tried a wrong code: here is a new one (\(HumanFormat.count(attemptsLeft.rawValue, "attempt")) left)."
        )
      }
      let window = WindowPresentation(
        digits: digits, uri: uri, expiresAt: Date(timeIntervalSince1970: expiresAt.rawValue), scope: scope, zone: zone,
        name: name.map { PlainText.escaped($0) })
      for line in window.lines() { Console.say(line) }
      if pairingJSON { try Console.print(json) }
    case .paired(let name): Console.say("\(Console.style.green("Paired")) with \(PlainText.escaped(name)).")
    case .keptOut(let address, let holders): Console.warn(keptOut(address, holders))
    case .closed, .locked, .failed, .state: break
    }
  }

  /// Returns the message about a machine that wanted to pair and could not.
  static func keptOut(_ address: String, _ holders: [String]) -> String {
    let others = holders.isEmpty ? "others" : holders.joined(separator: ", ")
    return
      "A machine at \(address) could not pair, because unfinished attempts from \(others) occupy the pairing window. Try "
      + "again in a few seconds. If it happens again, find out what those machines are, or pair over another network or a cable."
  }
}

/// A service for the keys of a terminal on which a server runs. It opens a pairing window at once, and a new one
/// whenever `n` is typed.
struct WindowKeys: Service {
  let operation: ServeOperation
  /// The scope of a machine that pairs in a window opened here; `nil` for its previous scope, or everything.
  let scope: SampleFilter?
  /// A stream with an element when the server listens.
  let listening: AsyncStream<Void>

  func run() async throws {
    await cancelWhenGracefulShutdown {
      guard await listening.first(where: { _ in true }) != nil else { return }
      await openWindow()
      for await line in LineReader() where line.trimmingCharacters(in: .whitespaces).lowercased() == "n" {
        await openWindow()
      }
    }
    // The server is still at work: this service must not be the first to end.
    try? await gracefulShutdown()
  }

  private func openWindow() async {
    do {
      try await operation.openWindow(scope: scope)
    } catch {
      Console.warn("\(error)")
    }
  }
}
