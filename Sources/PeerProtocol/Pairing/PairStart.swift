/// The client's first message, `POST /pair/v1/start`.
///
/// JSON: `{"clientID":"<32 hex>","name":"laptop","versions":["hpeer-pair/1"],"pA":"<130 hex>"}`.
///
/// A decoded request may hold a share of any length: the server answers and counts a wrong length exactly like a
/// wrong code.
public struct PairStartRequest: Hashable, Sendable {
  /// The client's 16 bytes in the transcript. They are arbitrary: the server identifies the client by its
  /// certificate.
  public let clientID: PeerID
  /// The client's name, 1 to 64 bytes of UTF-8. The client chooses it, so treat it as hostile text.
  public let name: String
  /// The versions that the client offers, in its order of preference. The transcript binds the list.
  public let versions: [String]
  /// The client's share: an uncompressed point of P-256, 65 bytes.
  public let pA: [UInt8]

  /// - Throws: ``PairMessageError/badField(_:)`` for a name of 0 or more than 64 bytes, for no version or too many, and
  ///   unless the share has 65 bytes.
  public init(clientID: PeerID, name: String, versions: [String], pA: [UInt8]) throws(PairMessageError) {
    let pA = try PairField.bytes(pA, count: PairingProtocol.shareByteCount, "pA")
    try self.init(clientID: clientID, name: name, versions: versions, unverifiedShare: pA)
  }

  private init(
    clientID: PeerID, name: String, versions: [String], unverifiedShare: [UInt8]
  ) throws(PairMessageError) {
    self.clientID = clientID
    self.name = try PairField.name(name)
    self.versions = try PairField.versions(versions)
    self.pA = unverifiedShare
  }
}

extension PairStartRequest: Codable {
  enum CodingKeys: String, CodingKey { case clientID, name, versions, pA }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      clientID: container.decode(PeerID.self, forKey: .clientID),
      name: container.decode(String.self, forKey: .name),
      versions: container.decode([String].self, forKey: .versions),
      unverifiedShare: container.decodeHex(.pA))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(clientID, forKey: .clientID)
    try container.encode(name, forKey: .name)
    try container.encode(versions, forKey: .versions)
    try container.encodeHex(pA, forKey: .pA)
  }
}

/// The server's answer to a start: `{"session":"<32 hex>","pB":"<130 hex>","ttl":30}`.
public struct PairStartResponse: Hashable, Sendable {
  /// The 16 random bytes that identify this attempt.
  public let session: [UInt8]
  /// The server's share: an uncompressed point of P-256, 65 bytes.
  public let pB: [UInt8]
  /// The lifetime of the session in seconds.
  public let ttl: Int

  /// - Throws: ``PairMessageError/badField(_:)`` unless the session has 16 bytes, the share 65 bytes and the lifetime
  ///   is 1 to 3,600 seconds.
  public init(session: [UInt8], pB: [UInt8], ttl: Int) throws(PairMessageError) {
    guard (1...3600).contains(ttl) else { throw .badField("ttl") }
    self.session = try PairField.bytes(session, count: PairingProtocol.sessionByteCount, "session")
    self.pB = try PairField.bytes(pB, count: PairingProtocol.shareByteCount, "pB")
    self.ttl = ttl
  }
}

extension PairStartResponse: Codable {
  enum CodingKeys: String, CodingKey { case session, pB, ttl }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      session: container.decodeHex(.session), pB: container.decodeHex(.pB),
      ttl: container.decode(Int.self, forKey: .ttl))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeHex(session, forKey: .session)
    try container.encodeHex(pB, forKey: .pB)
    try container.encode(ttl, forKey: .ttl)
  }
}
