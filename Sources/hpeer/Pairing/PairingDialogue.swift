import Foundation
import HealthOperations
import HealthStore
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
    case payload(PairingPayload)
    case code(PairingCode)
  }

  let registry: PeerRegistry
  let identity: PeerIdentity
  let store: HealthStore
  /// What the server's list shall call this machine.
  let clientName: String

  /// Pairs and stores the result. Tries the endpoints in order.
  func pair(with endpoints: [PeerEndpoint], code source: CodeSource) async throws -> ServerRecord {
    do {
      return try await paired(with: endpoints, code: source)
    } catch PeerError.certificateChanged(let peer, let pinned, let seen) {
      // What was pinned is of an earlier pairing, of the invitation, or of a moment ago.
      guard try await registry.servers().contains(where: { $0.fingerprint == pinned }) else {
        throw CommandFailure(
          .certificateChanged,
          "What answers at \(PlainText.escaped(peer)) is not the machine that the code is of: it shows another certificate, so "
            + "nothing was sent. Ask for a new code; should that say the same, someone on the network may be posing as it."
        )
      }
      throw PeerError.certificateChanged(peer: peer, pinned: pinned, seen: seen)
    }
  }

  private func paired(with endpoints: [PeerEndpoint], code source: CodeSource) async throws -> ServerRecord {
    var source = source
    if case .standardInput = source { source = try await readStandardInput() }
    if case .payload(let payload) = source {
      let endpoint = PeerEndpoint(host: payload.host, port: Int(payload.port))
      return try await run(at: endpoint, pinned: payload.fingerprint, code: payload.code)
    }
    let endpoint = try await PeerFinder.firstAnswering(endpoints)
    if case .code(let code) = source { return try await run(at: endpoint, pinned: nil, code: code) }
    return try await ask(at: endpoint)
  }

  /// Asks for the code until it is right, given up or refused for good.
  private func ask(at endpoint: PeerEndpoint) async throws -> ServerRecord {
    while true {
      let session = try await open(at: endpoint, pinned: nil)
      let shown = PlainText.escaped(session.status.deviceName)
      let text = try await Prompt.readSecret(prompt: "Code shown on \(shown): ")
      if text.utf8.count > 12, let payload = try? PairingPayload.parse(text) {
        return try await run(
          at: PeerEndpoint(host: payload.host, port: Int(payload.port)), pinned: payload.fingerprint, code: payload.code
        )
      }
      guard let code = PairingCode(text) else {
        Console.say(Self.noCode(text))
        continue
      }
      do {
        return try await finish(session, code: code)
      } catch PeerError.pairing(.wrongCode(let left)) where left > 0 {
        Console.say(
          "Wrong code. \(HumanFormat.count(left, "attempt")) left; \(shown) shows a new code now.")
      }
    }
  }

  private func run(at endpoint: PeerEndpoint, pinned: Fingerprint?, code: PairingCode) async throws -> ServerRecord {
    try await finish(try await open(at: endpoint, pinned: pinned), code: code)
  }

  private func open(at endpoint: PeerEndpoint, pinned: Fingerprint?) async throws -> PairingSession {
    let session = try await PairingSession.open(at: endpoint, pinned: pinned)
    if let known = try await registry.server(id: session.hello.serverID), known.fingerprint != session.fingerprint {
      throw PeerError.certificateChanged(
        peer: PlainText.escaped(known.name), pinned: known.fingerprint, seen: session.fingerprint)
    }
    ClockDifference(session.status)?.warn()
    if let refusal = session.hello.refusal { throw PeerError.pairing(refusal) }
    return session
  }

  private func finish(_ session: PairingSession, code: PairingCode) async throws -> ServerRecord {
    let name = session.status.deviceName
    do {
      let paired = try await session.pair(
        code: code, clientID: identity.id, certificate: identity, name: clientName)
      let record = ServerRecord(
        paired, name: name, host: session.endpoint.host, port: UInt16(session.endpoint.port))
      try await registry.addServer(record)
      try await store.record(
        AuditEvent(.pairingSucceeded, ["peer": name, "id": record.id.hex, "role": "client"]))
      Console.say("\(Console.style.green("Paired")) with \(PlainText.escaped(name)).")
      return record
    } catch let error as PeerError {
      try await store.record(
        AuditEvent(
          .pairingFailed,
          ["peer": name, "id": session.hello.serverID.hex, "role": "client", "reason": error.auditReason]))
      throw error
    }
  }

  /// Says whether a machine that was paired with just now holds the record of the same person. Where nobody knows, the
  /// first pull tells why.
  func introduce(to server: ServerRecord) async {
    guard let host = server.host, let port = server.port else { return }
    let verdict = try? await PersonCheck(registry).introduce(
      store, to: server, at: PeerEndpoint(host: host, port: Int(port)), identity: identity)
    switch verdict {
    case .same: Console.say("Both machines hold the record of the same person.")
    case .different:
      Console.warn("\(server.name) holds the record of another person than this machine; they are not mixed.")
    case .unknown:
      Console.say("Nobody can tell whether both machines hold the record of the same person.")
    case nil: break
    }
  }

  private func readStandardInput() async throws -> CodeSource {
    guard let line = await LineReader().first(where: { !$0.trimmingCharacters(in: .whitespaces).isEmpty }) else {
      throw CommandFailure(.badInput, "Standard input holds no code: pipe the six digits, or the text of the QR code.")
    }
    if let code = PairingCode(line) { return .code(code) }
    if Self.digits(in: line) != nil { throw CommandFailure(.badInput, Self.noCode(line)) }
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
