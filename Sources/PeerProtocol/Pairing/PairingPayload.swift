import Foundation

/// The content of a QR code or pasted text with which a client can pair without trusting the network: the server's
/// address, its certificate's fingerprint, and the code.
///
/// The payload has two spellings. ``uri`` is hpeer's own, made for the alphanumeric mode of QR codes:
///
///     HPEER:P1/STUDIO.LOCAL:8443/<52 characters of base 32>/482913
///
/// ``json`` is HealthAppTransfer's. ``parse(_:now:)`` reads either.
///
/// ```swift
/// func payload(_ certificate: Fingerprint, _ code: PairingCode) throws -> PairingPayload {
///   let shown = try PairingPayload(host: "studio.local", port: 8737, fingerprint: certificate, code: code)
///   return try PairingPayload.parse(shown.uri)  // what a scanner reads
/// }
/// ```
///
/// The payload contains the code, so treat it as a secret until it expires: never put it in argv, a log or an error.
public struct PairingPayload: Hashable, Sendable {
  /// The server's DNS name, IPv4 or IPv6 address, in lower case, without brackets or zone.
  public let host: String
  /// The port, 1 to 65535.
  public let port: UInt16
  /// The fingerprint that the client pins before it sends any data.
  public let fingerprint: Fingerprint
  /// The code, a secret. ``PairingCode`` keeps it out of logs.
  public let code: PairingCode
  /// The end of the window by the server's clock, or nil if unknown. The URI does not contain it.
  public let expiry: Date?

  /// - Throws: `badField("host")` or `badField("port")`.
  public init(
    host: String, port: UInt16, fingerprint: Fingerprint, code: PairingCode, expiry: Date? = nil
  ) throws(PairingPayloadError) {
    guard let host = PairingHost.normalized(host) else { throw .badField("host") }
    guard port > 0 else { throw .badField("port") }
    self.host = host
    self.port = port
    self.fingerprint = fingerprint
    self.code = code
    self.expiry = expiry
  }

  /// Parses a URI or a JSON object, ignoring surrounding white space.
  ///
  /// Any input is safe. Texts longer than 4096 bytes are refused.
  /// - Parameter now: the time with which the JSON's expiry is compared.
  public static func parse(_ text: String, now: Date = Date()) throws(PairingPayloadError) -> PairingPayload {
    guard text.utf8.count <= 4096 else { throw .notAPayload }
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let payload: PairingPayload
    if text.hasPrefix("{") {
      payload = try parseJSON(text)
    } else if text.prefix(uriScheme.count).uppercased() == uriScheme {
      payload = try parseURI(text)
    } else {
      throw .notAPayload
    }
    if let expiry = payload.expiry, expiry < now { throw .expired(expiry) }
    return payload
  }
}
