/// `{"success":true,"data":…}`: how every JSON answer but a pairing refusal is wrapped.
public struct Envelope<Content: Sendable>: Sendable {
  public var success: Bool
  public var data: Content

  public init(_ data: Content) {
    success = true
    self.data = data
  }
}

extension Envelope: Encodable where Content: Encodable {}
extension Envelope: Decodable where Content: Decodable {}

/// `{"success":false,"error":"…"}`.
public struct FailureEnvelope: Codable, Sendable {
  public var success: Bool
  public var error: String

  public init(_ error: String) {
    success = false
    self.error = error
  }
}

/// `GET /status`, open to everyone: says nothing that identifies a person.
public struct StatusData: Codable, Sendable, Hashable {
  /// `running`.
  public var status: String
  public var version: String
  public var deviceName: String
  /// The number of types that have samples; 0 for a caller without a token.
  public var availableTypes: WireCount
  /// `hpeer/1` for a peer that speaks this protocol; other servers of `_healthsync._tcp` have no such field.
  public var `protocol`: String?
  /// The server's ``PeerID`` in hexadecimal.
  public var id: String?
  /// Seconds since 1970 by the server's clock.
  public var time: WireInstant?

  public static let protocolName = "hpeer/1"

  public init(version: String, deviceName: String, availableTypes: Int, id: String, time: Double) {
    status = "running"
    self.version = version
    self.deviceName = deviceName
    // There are some hundred types.
    self.availableTypes = WireCount(clamping: availableTypes)
    self.protocol = Self.protocolName
    self.id = id
    self.time = WireInstant(rawValue: time)
  }
}
