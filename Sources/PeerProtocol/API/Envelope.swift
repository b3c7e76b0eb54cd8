/// The wrapper of every JSON answer except a pairing refusal: `{"success":true,"data":…}`.
public struct Envelope<Content: Sendable>: Sendable {
  /// Always true. Some clients look only at this field.
  public var success: Bool
  /// The content of the answer, such as ``StatusData``.
  public var data: Content

  /// Wraps the content of an answer that has status 200.
  public init(_ data: Content) {
    success = true
    self.data = data
  }
}

extension Envelope: Encodable where Content: Encodable {}
extension Envelope: Decodable where Content: Decodable {}

/// The body of a failed request: `{"success":false,"error":"…"}`.
public struct FailureEnvelope: Codable, Sendable {
  /// Always false.
  public var success: Bool
  /// A sentence for a person. When it comes from another machine, it is not escaped and can have any length.
  public var error: String

  /// The error text sent with status 423 by a machine that its owner has locked. Clients recognize such a machine by
  /// this text.
  public static let machineLocked = "This machine is locked: its owner unlocks it there with `hpeer unlock`."

  /// - Parameter error: a sentence without secrets, because strangers may read it.
  public init(_ error: String) {
    success = false
    self.error = error
  }
}

/// The content of `GET /status`, which needs no token and contains nothing that identifies a person.
public struct StatusData: Codable, Sendable, Hashable {
  /// Always `running`.
  public var status: String
  /// The version of the server's program, for display only.
  public var version: String
  /// The name that the machine announces. The machine chooses it, so it proves nothing.
  public var deviceName: String
  /// The number of types that have samples; 0 for a caller without a token.
  public var availableTypes: WireCount
  /// The protocol name, `hpeer/1` for a peer that speaks this protocol; nil for other servers of `_healthsync._tcp`.
  public var `protocol`: String?
  /// The server's ``PeerID`` in hexadecimal.
  public var id: String?
  /// The server's clock, in seconds since 1970.
  public var time: WireInstant?
  /// The IANA name of the server's home time zone, if its owner chose one. The server sends it only to clients that
  /// may read the whole record. When it comes from another machine, it is neither validated nor escaped.
  public var homeZone: String?

  /// The value of ``protocol`` for a server that speaks hpeer's protocol.
  public static let protocolName = "hpeer/1"

  /// - Parameters:
  ///   - availableTypes: 0 for a caller without a token.
  ///   - id: ``PeerID/hex`` of the server.
  ///   - time: seconds since 1970; omitted from the answer if outside ``WireInstant/range``.
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
