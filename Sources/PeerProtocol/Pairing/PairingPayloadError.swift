import Foundation
import HealthModel

/// A reason why a text is not a usable pairing payload.
public enum PairingPayloadError: Error, Hashable, Sendable {
  /// The text is neither an `HPEER:` URI nor a JSON object.
  case notAPayload
  /// The `HPEER:` URI has a version that this build does not know, such as `P2`.
  case unsupportedVersion(String)
  /// A field is missing, malformed or out of range: `host`, `port`, `fingerprint`, `code`, `expiry` or `fields` (too
  /// few or too many).
  case badField(String)
  /// The payload expired at this time.
  case expired(Date)
  /// The payload is from another app that also uses `_healthsync._tcp` (keys `certificateFingerprint`, `expiresAt`).
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

  /// Returns the time for display, clamped to the years 1 to 9999 because a payload may contain any number.
  private static func local(_ date: Date) -> String {
    let seconds = min(max(date.timeIntervalSince1970, -62_135_596_800), 253_402_300_799)
    return Timestamp(seconds: Int64(seconds)).iso8601(in: .current)
  }
}
