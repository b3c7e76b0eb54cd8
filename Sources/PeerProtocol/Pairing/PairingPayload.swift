import Foundation

/// What a QR code or a pasted text carries so that a client can pair without trusting the network: where the server is,
/// which certificate it has, and the code.
///
/// Two spellings exist. ``uri`` is hpeer's own, made for the alphanumeric mode of QR codes:
///
///     HPEER:P1/STUDIO.LOCAL:8443/<52 characters of base 32>/482913
///
/// ``json`` is HealthAppTransfer's. ``parse(_:now:)`` reads both.
///
/// ```swift
/// func payload(_ certificate: Fingerprint, _ code: PairingCode) throws -> PairingPayload {
///   let shown = try PairingPayload(host: "studio.local", port: 8737, fingerprint: certificate, code: code)
///   return try PairingPayload.parse(shown.uri)  // what a scanner reads
/// }
/// ```
///
/// The payload holds the code, so treat it as a secret until it expires: never in argv, a log or an error.
public struct PairingPayload: Hashable, Sendable {
  /// A DNS name, IPv4 or IPv6 address (no brackets, no zone), in lower case.
  public let host: String
  /// 1 to 65535.
  public let port: UInt16
  /// What the client pins before it sends anything.
  public let fingerprint: Fingerprint
  /// The secret; see ``PairingCode`` for how it is kept out of logs.
  public let code: PairingCode
  /// The end of the window by the server's clock. The URI does not carry it.
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

  /// Reads a URI or a JSON object, with white space around it.
  ///
  /// Total over any input; texts longer than 4096 bytes are not payloads.
  /// - Parameter now: compared with the JSON's expiry.
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
