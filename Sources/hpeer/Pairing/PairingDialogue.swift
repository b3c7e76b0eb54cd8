import Foundation
import HealthOperations
import PeerClient
import PeerProtocol
import PeerTrust
import Terminal

/// Pairs this machine with a server, with a person or a pipe supplying the code.
struct PairingDialogue {
  /// Where the code comes from.
  enum CodeSource {
    case prompt
    /// The first line of standard input: a code, or a whole payload.
    case standardInput
  }

  private let operation: PairOperation

  /// - Parameter local: under whose name the server's list shall have this machine.
  init(_ local: LocalPeer) {
    operation = PairOperation(local, notice: PeerConversation.tell)
  }

  /// Pairs and stores the result. Tries the endpoints in order.
  func pair(with endpoints: [PeerEndpoint], code source: CodeSource) async throws -> ServerRecord {
    let code: PairOperation.Code =
      switch source {
      case .prompt: .asked(Self.ask)
      case .standardInput: try await Self.readStandardInput()
      }
    let server = try await operation.run(with: endpoints, code: code)
    Console.say("\(Console.style.green("Paired")) with \(PlainText.escaped(server.name)).")
    return server
  }

  /// Says whether a machine that was paired with just now holds the record of the same person. Where nobody knows, the
  /// first pull tells why.
  func introduce(to server: ServerRecord) async {
    switch await operation.introduce(to: server) {
    case .same: Console.say("Both machines hold the record of the same person.")
    case .different:
      Console.warn("\(server.name) holds the record of another person than this machine; they are not mixed.")
    case .unknown:
      Console.say("Nobody can tell whether both machines hold the record of the same person.")
    case nil: break
    }
  }

  @Sendable private static func ask(_ peer: String) async throws -> PairOperation.TypedCode? {
    let text = try await Prompt.readSecret(prompt: "Code shown on \(PlainText.escaped(peer)): ")
    if text.utf8.count > 12, let payload = try? PairingPayload.parse(text) { return .payload(payload) }
    if let code = PairingCode(text) { return .digits(code) }
    Console.say(noCode(text))
    return nil
  }

  private static func readStandardInput() async throws -> PairOperation.Code {
    guard let line = await LineReader().first(where: { !$0.trimmingCharacters(in: .whitespaces).isEmpty }) else {
      throw CommandFailure(.badInput, "Standard input holds no code: pipe the six digits, or the text of the QR code.")
    }
    if let code = PairingCode(line) { return .digits(code) }
    if digits(in: line) != nil { throw CommandFailure(.badInput, noCode(line)) }
    return .payload(try PairingPayload.parse(line))
  }

  /// Why `text` is no code. Nothing has been sent for it, so it costs no attempt.
  private static func noCode(_ text: String) -> String {
    let what = digits(in: text).map { "That has \(HumanFormat.count($0, "digit"))" } ?? "That is not a code"
    return "\(what); a code has six digits, such as 482 913."
  }

  /// How many there are, if there is nothing else.
  private static func digits(in text: String) -> Int? {
    let characters = text.filter { !$0.isWhitespace && $0 != "-" }
    return !characters.isEmpty && characters.allSatisfy { $0.isASCII && $0.isNumber } ? characters.count : nil
  }
}
