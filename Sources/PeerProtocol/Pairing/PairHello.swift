/// The server's answer to `GET /pair/v1/hello`: the versions it speaks and the salt of the current code. None of it
/// is secret.
///
/// JSON: `{"versions":["hpeer-pair/1"],"suite":"P256-SHA256-HKDF-HMAC","serverID":"<32 hex>","salt":"<32
/// hex>","windowOpen":true}`. `salt` is missing while the window is closed. `"windowLocked":true` then says that too
/// many wrong codes closed it.
public struct PairHello: Hashable, Sendable {
  /// The names of one to eight versions that the server speaks; see ``PairingProtocol/version``.
  public let versions: [String]
  /// The cipher suite: ``PairingProtocol/suite`` if a client of this version can pair with the server.
  public let suite: String
  /// The server's identity in the transcript, together with its fingerprint.
  public let serverID: PeerID
  /// The salt: 16 bytes, new with every code. Not nil while ``windowOpen`` is true.
  public let salt: [UInt8]?
  /// Whether a code is accepted now.
  public let windowOpen: Bool
  /// Whether too many wrong codes locked pairing, until a person opens it again at the server. False if missing in
  /// JSON.
  public let windowLocked: Bool

  /// - Parameters:
  ///   - salt: the current code's salt, or nil while the window is closed.
  ///   - windowLocked: ignored while the window is open.
  public init(
    versions: [String], suite: String, serverID: PeerID, salt: [UInt8]?, windowLocked: Bool = false
  ) throws(PairMessageError) {
    guard (1...64).contains(suite.utf8.count) else { throw .badField("suite") }
    self.versions = try PairField.versions(versions)
    self.suite = suite
    self.serverID = serverID
    self.salt = if let salt { try PairField.bytes(salt, count: PairingProtocol.saltByteCount, "salt") } else { nil }
    self.windowOpen = salt != nil
    self.windowLocked = windowLocked && salt == nil
  }

  /// The reason why no code is accepted now, or `nil` while the window is open.
  public var refusal: PairRejection? {
    windowOpen ? nil : windowLocked ? .windowLocked : .windowClosed
  }
}

extension PairHello: Codable {
  enum CodingKeys: String, CodingKey { case versions, suite, serverID, salt, windowOpen, windowLocked }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let isOpen = try container.decode(Bool.self, forKey: .windowOpen)
    try self.init(
      versions: container.decode([String].self, forKey: .versions),
      suite: container.decode(String.self, forKey: .suite),
      serverID: container.decode(PeerID.self, forKey: .serverID),
      salt: isOpen ? container.decodeHex(.salt) : nil,
      windowLocked: container.decodeIfPresent(Bool.self, forKey: .windowLocked) ?? false)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(versions, forKey: .versions)
    try container.encode(suite, forKey: .suite)
    try container.encode(serverID, forKey: .serverID)
    if let salt { try container.encodeHex(salt, forKey: .salt) }
    try container.encode(windowOpen, forKey: .windowOpen)
    if windowLocked { try container.encode(true, forKey: .windowLocked) }
  }
}
