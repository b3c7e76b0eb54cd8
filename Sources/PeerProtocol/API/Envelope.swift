/// `{"success":true,"data":…}`: how every JSON answer but a pairing refusal is wrapped.
public struct Envelope<Content: Sendable>: Sendable {
  /// Always true; it is there for clients that look at nothing else.
  public var success: Bool
  /// What the route answers, such as ``StatusData``.
  public var data: Content

  /// Wraps the content of an answer with status 200.
  public init(_ data: Content) {
    success = true
    self.data = data
  }
}

extension Envelope: Encodable where Content: Encodable {}
extension Envelope: Decodable where Content: Decodable {}

/// `{"success":false,"error":"…"}`.
public struct FailureEnvelope: Codable, Sendable {
  /// Always false.
  public var success: Bool
  /// A sentence for a person. From another machine: not escaped, of any length.
  public var error: String

  /// The sentence of 423 from a machine that its owner has locked, by which it is told from others of that status.
  public static let machineLocked = "This machine is locked: its owner unlocks it there with `hpeer unlock`."

  /// - Parameter error: a sentence without secrets, since a stranger may read it.
  public init(_ error: String) {
    success = false
    self.error = error
  }
}

/// `GET /status`, open to everyone: says nothing that identifies a person.
public struct StatusData: Codable, Sendable, Hashable {
  /// `running`.
  public var status: String
  /// The version of the server's program, for people; nothing is decided by it.
  public var version: String
  /// What the machine is announced as: chosen by it, and no proof of anything.
  public var deviceName: String
  /// The number of types that have samples; 0 for a caller without a token.
  public var availableTypes: WireCount
  /// `hpeer/1` for a peer that speaks this protocol; other servers of `_healthsync._tcp` have no such field.
  public var `protocol`: String?
  /// The server's ``PeerID`` in hexadecimal.
  public var id: String?
  /// Seconds since 1970 by the server's clock.
  public var time: WireInstant?
  /// The IANA name of the time zone whose days count on the server, if its owner chose one. Only a client that may read the
  /// whole record is told. From another machine: neither checked nor escaped.
  public var homeZone: String?

  /// What ``protocol`` says of a server that speaks hpeer's protocol.
  public static let protocolName = "hpeer/1"

  /// - Parameters:
  ///   - availableTypes: 0 for a caller without a token.
  ///   - id: ``PeerID/hex`` of the server.
  ///   - time: seconds since 1970; left out of the answer if beyond ``WireInstant/range``.
  ///   - homeZone: nil for a caller that may not read everything.
  public init(
    version: String, deviceName: String, availableTypes: Int, id: String, time: Double, homeZone: String? = nil
  ) {
    status = "running"
    self.version = version
    self.deviceName = deviceName
    // There are some hundred types.
    self.availableTypes = WireCount(clamping: availableTypes)
    self.protocol = Self.protocolName
    self.id = id
    self.time = WireInstant(rawValue: time)
    self.homeZone = homeZone
  }
}
