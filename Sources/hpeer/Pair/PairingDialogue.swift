import Foundation
import HealthOperations
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust
import QRPictures
import Terminal

/// A dialogue that pairs this machine with a server. A person or a pipe supplies the code.
struct PairingDialogue {
  /// The source of the code.
  enum CodeSource {
    case prompt
    /// The first line of standard input: a code, or a whole payload.
    case standardInput
    /// All of standard input: the text of a QR code. The name is what lists call the machine.
    case text(name: String?)
    /// A picture of a QR code. The name is what lists call the machine.
    case picture(String, name: String?)
    /// A code for the machine with this certificate: typed, or the first line of standard input.
    case pinned(Fingerprint, name: String?, fromStandardInput: Bool)
  }

  private let operation: PairOperation
  private let home: Home
  private let registry: PeerRegistry

  /// Creates a dialogue.
  ///
  /// - Parameters:
  ///   - home: The home with the registry and the identity. A store is made once the machines are paired.
  ///   - finder: Finds the machine of a code that does not say where it is.
  init(_ home: Home, registry: PeerRegistry, identity: PeerIdentity, finder: PeerFinder) {
    (self.home, self.registry) = (home, registry)
    operation = PairOperation(
      home, registry: registry, identity: identity, finder: finder, notice: PeerPrompts.tell)
  }

  /// Pairs and stores the result. Tries the endpoints in order.
  func pair(with endpoints: [PeerEndpoint], code source: CodeSource) async throws -> ServerRecord {
    let code: PairOperation.Code =
      switch source {
      case .prompt: .asked(Self.ask)
      case .standardInput: try await Self.readStandardInput()
      case .text(let name): try await Self.readText(name: name)
      case .picture(let path, let name): .text(try await Self.readPicture(path), name: name)
      case .pinned(let fingerprint, let name, let fromStandardInput):
        .typed(try await Self.readCode(of: name, fromStandardInput), fingerprint, name: name)
      }
    let server = try await operation.run(with: endpoints, code: code)
    Console.say("\(Console.style.green("Paired")) with \(PlainText.escaped(server.name))\(Self.kind(of: server)).")
    return server
  }

  /// Says whether the machine that was just paired holds the record of the same person. If that is unknown, the first
  /// pull says why.
  func introduce(to server: ServerRecord) async throws {
    if server.traits.isApp { return try await askWhosePhone(server) }
    switch await operation.introduce(to: server) {
    case .same: Console.say("Both machines hold the record of the same person.")
    case .different:
      Console.warn("\(server.name) holds the record of another person than this machine; they are not mixed.")
    case .unknown:
      Console.say("hpeer can't tell whether both machines hold the record of the same person.")
    case nil: break
    }
  }

  private static func kind(of server: ServerRecord) -> String { server.traits.isApp ? " (\(server.dialect))" : "" }

  /// Asks whose phone it is, because phones do not say. Without an answer, or after a no, the first pull says what to
  /// do.
  private func askWhosePhone(_ server: ServerRecord) async throws {
    let home = home
    guard let store = try await onThread({ _ in try home.openStoreIfThere() }), try await !store.isEmpty(),
      let confirm = PeerPrompts.confirmation,
      try await confirm(server, .unknown)
    else { return }
    let check = PersonCheck(registry)
    try await check.confirm(try await check.agreement(onPhone: server, in: store), with: server, in: store)
  }

  /// The maximum length in bytes, more than any QR code holds.
  private static let longestText = 8_192

  /// Returns whether a pasted text is complete. Pasting does not end standard input, and a JSON object may have
  /// several lines.
  private static func isWhole(_ text: String) -> Bool {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if text.isEmpty { return false }
    return !text.hasPrefix("{") || (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
  }

  private static func readText(name: String?) async throws -> PairOperation.Code {
    var text = ""
    for await line in LineReader() {
      text += line + "\n"
      if isWhole(text) || text.utf8.count > longestText { break }
    }
    guard !text.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty else {
      throw CommandFailure(.badInput, "Standard input holds no code: pipe the six digits, or the text of the QR code.")
    }
    if let code = PairingCode(text.trimmingCharacters(in: .whitespacesAndNewlines)) { return .digits(code) }
    if digits(in: text) != nil { throw CommandFailure(.badInput, noCode(text)) }
    return .text(text, name: name)
  }

  /// Returns the code in a picture. If it shows several, a person on a terminal chooses.
  private static func readPicture(_ path: String) async throws -> String {
    let texts = try await QRPicture.texts(in: path)
    let shown = try PairOperation.shownInvitations(among: texts)
    guard shown.count > 1, Console.isInteractive else { return try PairOperation.invitation(among: texts) }
    Console.say("This picture shows the codes of several machines:")
    for (index, invitation) in shown.enumerated() {
      let kinds = invitation.kinds.joined(separator: " or ")
      Console.say("  \(index + 1)  \(PlainText.escaped(invitation.place, limit: 60)) (\(kinds))")
    }
    let answer = try await Prompt.readLine(prompt: "Which one do you mean? [1-\(shown.count)] ", limit: 16)
    guard let number = Int(answer.trimmingCharacters(in: .whitespaces)), shown.indices.contains(number - 1) else {
      throw CommandFailure(
        .badInput, "That is no number from 1 to \(shown.count), so nothing was sent: run the same command again.")
    }
    return shown[number - 1].text
  }

  @Sendable private static func ask(_ peer: String) async throws -> PairOperation.TypedCode? {
    // The code is shown while it is typed: it is on a screen nearby, and of use once.
    let text = try await Prompt.readLine(prompt: "Code shown on \(PlainText.escaped(peer)): ")
    if text.utf8.count > 12, (try? PairOperation.invitation(among: [text])) != nil { return .text(text) }
    if let code = PairingCode(text) { return .digits(code) }
    Console.say(noCode(text))
    return nil
  }

  /// Reads the code of a machine whose certificate is known. Whether it is a code shows when it is used.
  private static func readCode(of name: String?, _ fromStandardInput: Bool) async throws -> String {
    if fromStandardInput { return try await firstLine() }
    let peer = name.map { PlainText.escaped($0) } ?? "the other machine"
    return try await Prompt.readLine(prompt: "Code shown on \(peer): ").trimmingCharacters(in: .whitespaces)
  }

  private static func firstLine() async throws -> String {
    for await line in LineReader() {
      let line = line.trimmingCharacters(in: .whitespaces)
      if !line.isEmpty { return line }
    }
    throw CommandFailure(.badInput, "Standard input holds no code: pipe the code, or the text of the QR code.")
  }

  private static func readStandardInput() async throws -> PairOperation.Code {
    let line = try await firstLine()
    if let code = PairingCode(line) { return .digits(code) }
    if digits(in: line) != nil { throw CommandFailure(.badInput, noCode(line)) }
    return .text(try PairOperation.invitation(among: [line]), name: nil)
  }

  /// Returns why `text` is not a code. Nothing has been sent for it, so it costs no attempt.
  private static func noCode(_ text: String) -> String {
    let what = digits(in: text).map { "That has \(HumanFormat.count($0, "digit"))" } ?? "That is not a code"
    return
      "\(what); a code has six digits, such as 482 913, and the eight characters of HealthSync go with --fingerprint."
  }

  /// Returns the number of digits in a text that has nothing else; `nil` for any other text.
  private static func digits(in text: String) -> Int? {
    let characters = text.filter { !$0.isWhitespace && $0 != "-" }
    return !characters.isEmpty && characters.allSatisfy { $0.isASCII && $0.isNumber } ? characters.count : nil
  }
}
