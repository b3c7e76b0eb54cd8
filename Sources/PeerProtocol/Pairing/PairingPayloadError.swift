import Foundation
import HealthModel

/// Why a text that should be a pairing payload was refused.
public enum PairingPayloadError: Error, Hashable, Sendable {
  /// Neither an `HPEER:` URI nor a JSON object.
  case notAPayload
  /// An `HPEER:` URI of a version that this build does not know, such as `P2`.
  case unsupportedVersion(String)
  /// A field is missing, malformed or out of range: `host`, `port`, `fingerprint`, `code`, `expiry` or `fields` (too
  /// few or too many).
  case badField(String)
  /// The payload's own expiry lies in the past.
  case expired(Date)
  /// The payload of another app that also uses `_healthsync._tcp` (keys `certificateFingerprint`, `expiresAt`).
  case codeOfAnotherApp
}

extension PairingPayloadError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAPayload:
      "This is not a pairing code: paste the text that begins with HPEER: or the JSON that the other machine shows."
    case .unsupportedVersion(let version):
      "This pairing code is of version \(version), which this hpeer does not know: install a newer hpeer here."
    case .badField(let name):
      "The pairing code's \(name) cannot be read: copy the whole text again from the other machine."
    case .expired(let date):
      "This pairing code expired at \(Self.local(date)): open pairing again on the other machine, and check the "
        + "clock of this one."
    case .codeOfAnotherApp:
      "This is a code of another app (HealthSync for iOS), not of hpeer: use the code that 'hpeer serve' shows."
    }
  }

  /// The payload says when, and may say anything: held within the years 1 to 9999.
  private static func local(_ date: Date) -> String {
    let seconds = min(max(date.timeIntervalSince1970, -62_135_596_800), 253_402_300_799)
    return Timestamp(seconds: Int64(seconds)).iso8601(in: .current)
  }
}
