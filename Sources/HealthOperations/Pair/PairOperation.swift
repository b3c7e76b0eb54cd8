import Foundation
import HealthStore
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust

/// The reasons why pairing failed, in addition to ``PeerError``.
public enum PairError: Error, Hashable, Sendable {
  /// The machine that answers shows a different certificate than the code belongs to. Nothing was sent.
  case anotherMachine(String)
  /// The other machine is a phone's app, and only its code is known. A machine in between could read it, so nothing
  /// was sent.
  case codeAlone(peer: String, app: String)
  /// The typed text is not a valid code of any supported dialect.
  case noCode
  /// A picture shows the codes of several machines; their addresses.
  case severalCodes([String])
}

/// An operation that pairs this machine with a server, and records that in the audit log.
///
/// ```swift
/// func pair(_ local: LocalPeer, at endpoints: [PeerEndpoint], code: PairingCode) async throws -> ServerRecord {
///   let operation = PairOperation(local)
///   let server = try await operation.run(with: endpoints, code: .digits(code))
///   if await operation.introduce(to: server) == nil { print("the first pull tells whose record it is") }
///   return server
/// }
/// ```
public struct PairOperation: Sendable {
  /// The source of the pairing code.
  public enum Code: Sendable {
    /// A code that is already known. It is tried once: a wrong code costs an attempt and fails the pairing.
    case digits(PairingCode)
    /// The content of a QR code, including the address and the certificate fingerprint.
    case payload(PairingPayload)
    /// The text of a QR code in any dialect. The machine is located by the certificate in the text.
    ///
    /// - Parameter name: the name for lists; `nil` for the announced name.
    case text(String, name: String?)
    /// A typed code and the certificate fingerprint of the machine, which is an app that shows both or an hpeer
    /// server. The machine is located by that certificate; only then the code is sent, once.
    ///
    /// - Parameter name: the name for lists; `nil` for the announced name.
    case typed(String, Fingerprint, name: String?)
    /// A function that asks a person for the code, until it is right or refused for good, or the function throws.
    /// `nil` stands for unusable input and costs no attempt.
    ///
    /// - Parameter peer: the name of the other machine, which shows the code.
    case asked(@Sendable (_ peer: String) async throws -> TypedCode?)
  }

  /// The input that a person typed.
  public enum TypedCode: Sendable {
    /// A code for the machine that asked for it. A wrong code costs an attempt, and the person is asked again.
    case digits(PairingCode)
    /// The content of a QR code. The machine that it names is paired with, even if another machine asked.
    case payload(PairingPayload)
    /// The text of a QR code in any dialect. The machine that it names is paired with, even if another machine asked.
    case text(String)
  }

  let local: PairingSide
  let notice: @Sendable (PeerNotice) -> Void
  let finder: PeerFinder

  /// Creates an operation for a machine that has a store.
  ///
  /// - Parameters:
  ///   - local: its name is the name under which the other machine lists this one.
  ///   - finder: discovers apps on phones; `nil` creates a finder.
  public init(
    _ local: LocalPeer, finder: PeerFinder? = nil, notice: @escaping @Sendable (PeerNotice) -> Void = { _ in }
  ) {
    let side = PairingSide(registry: local.registry, identity: local.identity, name: local.name) { _ in local.store }
    self.init(side, finder: finder, notice: notice)
  }

  /// Creates an operation for a machine that may not have a store yet. The store is created after pairing succeeds.
  ///
  /// - Parameters:
  ///   - home: contains the registry and the identity.
  ///   - finder: discovers apps on phones.
  public init(
    _ home: Home, registry: PeerRegistry, identity: PeerIdentity, finder: PeerFinder,
    notice: @escaping @Sendable (PeerNotice) -> Void = { _ in }
  ) {
    let side = PairingSide(registry: registry, identity: identity, name: Hostname.short) { makes in
      try await onThread { _ in try makes ? home.createStore() : home.openStoreIfThere() }
    }
    self.init(side, finder: finder, notice: notice)
  }

  private init(_ local: PairingSide, finder: PeerFinder?, notice: @escaping @Sendable (PeerNotice) -> Void) {
    self.local = local
    self.notice = notice
    self.finder =
      finder ?? PeerFinder(registry: local.registry, ownID: local.identity.id, escape: { $0.debugDescription })
  }

  /// Pairs with a server and stores its token. Pairing again is allowed and renews the token.
  ///
  /// Throws ``PeerError``, ``PeerFinderError``, `PairingPayloadError` or ``PairError``.
  ///
  /// - Parameter endpoints: tried in order; not used with a payload.
  public func run(with endpoints: [PeerEndpoint], code: Code) async throws -> ServerRecord {
    do {
      switch code {
      case .payload(let payload): return try await pair(payload)
      case .text(let text, let name): return try await pair(text: text, name: name)
      case .typed(let code, let fingerprint, let name):
        return try await pair(code: code, fingerprint: fingerprint, endpoints: endpoints, name: name)
      case .digits(let code):
        let endpoint = try await firstAnswering(endpoints)
        return try await finish(try await open(at: endpoint), code: code)
      case .asked(let ask):
        return try await pair(at: try await firstAnswering(endpoints), asking: ask)
      }
    } catch PeerError.certificateChanged(let peer, let pinned, let seen) {
      // The pinned fingerprint may come from an earlier pairing, from the invitation, or from the first handshake.
      guard try await local.registry.servers().contains(where: { $0.fingerprint == pinned }) else {
        throw PairError.anotherMachine(peer)
      }
      throw PeerError.certificateChanged(peer: peer, pinned: pinned, seen: seen)
    }
  }

  /// Asks a newly paired server whether it has the record of the same person. Returns `nil` if it could not be asked
  /// or this store is still empty; then the first pull compares the persons.
  public func introduce(to server: ServerRecord) async -> PersonAnswer.Verdict? {
    guard let host = server.host, let port = server.port, !server.traits.isApp,
      let store = try? await local.store(false)
    else { return nil }
    return try? await PersonCheck(local.registry).introduce(
      store, to: server, at: PeerEndpoint(host: host, port: Int(port)), identity: local.identity)
  }

  /// Returns the first endpoint that answers. Throws ``PairError/codeAlone(peer:app:)`` if an app answers, because
  /// apps receive the code in plain form.
  private func firstAnswering(_ endpoints: [PeerEndpoint]) async throws -> PeerEndpoint {
    do {
      return try await PeerFinder.firstAnswering(endpoints)
    } catch let error as PeerError {
      guard let app = await PeerFinder.app(at: endpoints) else { throw error }
      throw PairError.codeAlone(peer: endpoints.first?.description ?? app.name, app: app.name)
    }
  }

  private func pair(
    at endpoint: PeerEndpoint, asking ask: @Sendable (_ peer: String) async throws -> TypedCode?
  ) async throws -> ServerRecord {
    while true {
      let session = try await open(at: endpoint)
      switch try await ask(session.status.deviceName) {
      case nil: continue
      case .payload(let payload): return try await pair(payload)
      case .text(let text): return try await pair(text: text, name: nil)
      case .digits(let code):
        do {
          return try await finish(session, code: code)
        } catch PeerError.pairing(.wrongCode(let left)) where left > 0 {
          notice(.wrongCode(peer: session.status.deviceName, attemptsLeft: left))
        }
      }
    }
  }

  func pair(_ payload: PairingPayload) async throws -> ServerRecord {
    let endpoint = PeerEndpoint(host: payload.host, port: Int(payload.port))
    return try await finish(try await open(at: endpoint, pinned: payload.fingerprint), code: payload.code)
  }

  /// Pairs with a code and a known certificate fingerprint.
  func pair(at endpoint: PeerEndpoint, pinned: Fingerprint, code: PairingCode) async throws -> ServerRecord {
    try await finish(try await open(at: endpoint, pinned: pinned), code: code)
  }

  private func open(at endpoint: PeerEndpoint, pinned: Fingerprint? = nil) async throws -> PairingSession {
    let session = try await PairingSession.open(at: endpoint, pinned: pinned)
    guard session.fingerprint != local.identity.fingerprint else {
      throw PeerError.thisMachine(endpoint: "\(endpoint)")
    }
    if let known = try await local.registry.server(id: session.hello.serverID),
      known.fingerprint != session.fingerprint
    {
      throw PeerError.certificateChanged(peer: known.name, pinned: known.fingerprint, seen: session.fingerprint)
    }
    if let difference = ClockDifference(session.status) { notice(.clocksDiffer(difference)) }
    if let refusal = session.hello.refusal { throw PeerError.pairing(refusal) }
    return session
  }

  private func finish(_ session: PairingSession, code: PairingCode) async throws -> ServerRecord {
    let name = session.status.deviceName
    do {
      let paired = try await session.pair(
        code: code, clientID: local.identity.id, certificate: local.identity, name: local.name)
      let record = ServerRecord(
        paired, name: name, host: session.endpoint.host, port: UInt16(session.endpoint.port))
      // The other machine has completed the pairing, so this side must record it.
      try await uncancelled { [local] in
        try await local.registry.addServer(record)
        try await local.record(success: ["peer": name, "id": record.id.hex, "role": "client"])
      }
      return record
    } catch let error as PeerError {
      try await uncancelled { [local] in
        try await local.record(
          failure: [
            "peer": name, "id": session.hello.serverID.hex, "role": "client", "reason": error.auditReason,
          ])
      }
      throw error
    }
  }
}

/// The parts of this machine that a pairing needs.
struct PairingSide: Sendable {
  let registry: PeerRegistry
  let identity: PeerIdentity
  /// The name that the other machine lists this one under.
  let name: String
  /// A function that opens the store. If there is none, it creates the store or returns `nil`, depending on `makes`.
  let store: @Sendable (_ makes: Bool) async throws -> HealthStore?

  /// Records a successful pairing in the audit log, and creates the store for that if there is none.
  func record(success detail: [String: String]) async throws {
    try await store(true)?.audit.record(AuditEvent(.pairingSucceeded, detail))
  }

  /// Records a failed pairing if there is a store. None is created: it would look like a filled one.
  func record(failure detail: [String: String]) async throws {
    try await store(false)?.audit.record(AuditEvent(.pairingFailed, detail))
  }
}
