import Foundation
import HealthStore
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust

/// Why two machines were not paired, beside what ``PeerError`` says.
public enum PairError: Error, Hashable, Sendable {
  /// What answers shows another certificate than the code is of. Nothing was sent.
  case anotherMachine(String)
  /// The app of a phone, by a code alone: whoever sits in between would learn it. Nothing was sent.
  case codeAlone(peer: String, app: String)
  /// What was typed is no code of anything that is paired with.
  case noCode
  /// A picture shows the codes of several machines; the places that they name.
  case severalCodes([String])
}

/// Pairs this machine with one that serves, and writes that down.
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
  /// Where the code comes from.
  public enum Code: Sendable {
    /// Known beforehand, and tried once: a wrong code costs one of the window's attempts and ends the pairing.
    case digits(PairingCode)
    /// What a QR code says, which brings the address and the certificate along.
    case payload(PairingPayload)
    /// The text of a QR code, of whichever dialect; the machine is looked for by the certificate in it.
    ///
    /// - Parameter name: what lists shall call it; `nil` for what it is announced as.
    case text(String, name: String?)
    /// A code that was typed, of a machine of which the certificate is known: an app on a phone that shows both, or an
    /// hpeer. It is looked for by that certificate, and only then sent the code, once.
    ///
    /// - Parameter name: what it is announced as, and what lists shall call it; `nil` for what it is announced as.
    case typed(String, Fingerprint, name: String?)
    /// Asked again and again until it is right, refused for good, or what is called throws. `nil` is nothing of use, and
    /// costs no attempt.
    ///
    /// - Parameter peer: what the other machine, which shows the code, calls itself.
    case asked(@Sendable (_ peer: String) async throws -> TypedCode?)
  }

  /// What a person typed.
  public enum TypedCode: Sendable {
    /// Tried on the machine that asked for it. If it is wrong, that costs an attempt, and the person is asked again.
    case digits(PairingCode)
    /// The text of a QR code: the machine that it names is paired with, whichever asked for a code.
    case payload(PairingPayload)
    /// The same, of whichever dialect.
    case text(String)
  }

  let local: PairingSide
  let notice: @Sendable (PeerNotice) -> Void
  let finder: PeerFinder

  /// - Parameters:
  ///   - local: under whose name the other machine lists this one.
  ///   - finder: looks for apps on phones; `nil` makes one.
  public init(
    _ local: LocalPeer, finder: PeerFinder? = nil, notice: @escaping @Sendable (PeerNotice) -> Void = { _ in }
  ) {
    let side = PairingSide(registry: local.registry, identity: local.identity, name: local.name) { _ in local.store }
    self.init(side, finder: finder, notice: notice)
  }

  /// Of a machine that may have no store yet: one is made once another machine has paired with it.
  ///
  /// - Parameters:
  ///   - home: with the registry and the identity.
  ///   - finder: looks for apps on phones.
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

  /// Pairs, and keeps what the other machine gave. Pairing again is allowed: it renews the token.
  ///
  /// Throws ``PeerError``, or ``PairError``.
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
      // What was pinned is of an earlier pairing, of the invitation, or of a moment ago.
      guard try await local.registry.servers().contains(where: { $0.fingerprint == pinned }) else {
        throw PairError.anotherMachine(peer)
      }
      throw PeerError.certificateChanged(peer: peer, pinned: pinned, seen: seen)
    }
  }

  /// Asks a machine that was paired with just now whether it holds the record of the same person. `nil` where that could
  /// not be asked, or this store is still empty: the first pull tells why.
  public func introduce(to server: ServerRecord) async -> PersonAnswer.Verdict? {
    guard let host = server.host, let port = server.port, !server.traits.isApp,
      let store = try? await local.store(false)
    else { return nil }
    return try? await PersonCheck(local.registry).introduce(
      store, to: server, at: PeerEndpoint(host: host, port: Int(port)), identity: local.identity)
  }

  /// Throws ``PairError/codeAlone(peer:app:)`` where what answers is an app, which would be sent the code as it is.
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

  /// By digits, where the certificate is known.
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
      // The other machine has paired by now.
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

/// What of this machine a pairing needs.
struct PairingSide: Sendable {
  let registry: PeerRegistry
  let identity: PeerIdentity
  /// What the other machine shall call this one.
  let name: String
  /// The store; where there is none, it is made if that is asked for, and else `nil`.
  let store: @Sendable (_ makes: Bool) async throws -> HealthStore?

  /// Writes down that this machine has paired.
  func record(success detail: [String: String]) async throws {
    try await store(true)?.audit.record(AuditEvent(.pairingSucceeded, detail))
  }

  /// Writes down that it has not. A store is not made for that: an empty one would look like one that was filled.
  func record(failure detail: [String: String]) async throws {
    try await store(false)?.audit.record(AuditEvent(.pairingFailed, detail))
  }
}
