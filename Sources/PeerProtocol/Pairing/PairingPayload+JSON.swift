import Foundation

/// The payload as HealthAppTransfer's JSON: `{"code":"042195","expiry":1718447700.5,"fingerprint":"<64
/// hex>","host":"192.168.1.20","port":54321}` with sorted keys; `expiry` in seconds since 1970, `fingerprint` in
/// lower case. That app requires all five keys.
extension PairingPayload {
  /// The JSON object on one line. Without an ``expiry`` the key is missing, and HealthAppTransfer refuses the payload.
  public var json: String {
    // Written by hand because no value contains a character that needs escaping.
    var members = ["\"code\":\"\(code.digits)\""]
    if let expiry { members.append("\"expiry\":\(expiry.timeIntervalSince1970)") }
    members.append("\"fingerprint\":\"\(fingerprint.hex)\"")
    members.append("\"host\":\"\(host)\"")
    members.append("\"port\":\(port)")
    return "{\(members.joined(separator: ","))}"
  }

  /// Parses HealthAppTransfer's object and ignores its expiry, because the two clocks may differ. Returns `nil` for
  /// any other text.
  public static func parseForeign(_ text: String) throws(PairingPayloadError) -> PairingPayload? {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.utf8.count <= 4096, text.hasPrefix("{") else { return nil }
    do {
      return try parseJSON(text)
    } catch PairingPayloadError.codeOfAnotherApp, PairingPayloadError.notAPayload {
      return nil
    } catch {
      throw error
    }
  }

  static func parseJSON(_ text: String) throws(PairingPayloadError) -> PairingPayload {
    let fields: JSONFields
    do {
      fields = try JSONDecoder().decode(JSONFields.self, from: Data(text.utf8))
    } catch {
      throw .notAPayload
    }
    if fields.isOfAnotherApp { throw .codeOfAnotherApp }
    if fields.isEmpty { throw .notAPayload }
    guard let host = fields.host else { throw .badField("host") }
    guard let number = fields.port, let port = UInt16(exactly: number) else { throw .badField("port") }
    guard let hex = fields.fingerprint, let fingerprint = Fingerprint(hex: hex) else { throw .badField("fingerprint") }
    guard let digits = fields.code, digits.utf8.count == PairingCode.digitCount, let code = PairingCode(digits) else {
      throw .badField("code")
    }
    var expiry: Date?
    if fields.hasExpiry {
      // Calendars and formatters are only reliable up to the year 9999.
      guard let seconds = fields.expiry, (0...253_402_300_799).contains(seconds) else { throw .badField("expiry") }
      expiry = Date(timeIntervalSince1970: seconds)
    }
    return try PairingPayload(host: host, port: port, fingerprint: fingerprint, code: code, expiry: expiry)
  }
}

/// The members of the object, read leniently. A member of the wrong type counts as missing, so that the error can
/// name it.
private struct JSONFields: Decodable {
  var code: String?
  var expiry: Double?
  var hasExpiry: Bool
  var fingerprint: String?
  var host: String?
  var port: Double?
  var isOfAnotherApp: Bool
  var isEmpty: Bool

  enum CodingKeys: String, CodingKey {
    case code, expiry, fingerprint, host, port, certificateFingerprint, expiresAt
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    code = try? container.decode(String.self, forKey: .code)
    expiry = try? container.decode(Double.self, forKey: .expiry)
    hasExpiry = container.contains(.expiry)
    fingerprint = try? container.decode(String.self, forKey: .fingerprint)
    host = try? container.decode(String.self, forKey: .host)
    port = try? container.decode(Double.self, forKey: .port)
    isOfAnotherApp =
      container.contains(.certificateFingerprint)
      || (container.contains(.expiresAt) && !container.contains(.fingerprint))
    isEmpty = container.allKeys.isEmpty
  }
}
