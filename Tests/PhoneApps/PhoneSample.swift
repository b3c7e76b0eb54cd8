import Foundation

/// The parts of a HealthKit sample that the apps send.
public struct PhoneSample: Hashable, Sendable {
  public var id: UUID
  /// The app's own name for the type.
  public var type: String
  /// The start in seconds since 1970. Its fraction decides the order but isn't sent.
  public var start: Double
  public var end: Double
  public var sourceName = "Casey\u{2019}s Apple\u{A0}Watch"
  public var value: Double?
  public var unit: String?
  public var categoryValue: Int?
  public var workoutActivityType: Int?
  public var correlationValues: [String: Double]?
  public var metadataJSON: String?
  /// Whether the app can convert the sample. If not, its row is counted but not sent.
  public var isMappable = true

  public init(
    id: UUID = UUID(), type: String, start: Double, end: Double? = nil, value: Double? = nil, unit: String? = nil
  ) {
    (self.id, self.type, self.start, self.end) = (id, type, start, end ?? start)
    (self.value, self.unit) = (value, unit)
  }

  /// Creates a heart rate sample.
  public static func heartRate(_ value: Double, at start: Double, id: UUID = UUID()) -> PhoneSample {
    PhoneSample(id: id, type: "heartRate", start: start, value: value, unit: "count/min")
  }

  /// Returns whether a sample comes first in the app's order: newest first. Clients can't rely on the order of rows
  /// that start together.
  static func isBefore(_ first: PhoneSample, _ second: PhoneSample) -> Bool { first.start > second.start }
}

/// An app's reaction to the bytes of a request.
public enum PhoneReaction: Hashable, Sendable {
  case answer([UInt8])
  /// Silence: the app neither answers nor closes the connection.
  case silence
  /// A crash of the app for the given reason.
  case crash(String)
}

/// A writer of JSON as Swift's encoder on the phone writes it: sorted keys, escaped slashes, and whole numbers
/// without a fraction.
enum PhoneJSON {
  static func text(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "/": result += "\\/"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result += scalar.value < 0x20 ? String(format: "\\u%04x", scalar.value) : String(scalar)
      }
    }
    return result + "\""
  }

  static func number(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : "\(number)"
  }

  /// Returns the instant in quotes as ISO 8601, truncated to whole seconds.
  static func instant(_ seconds: Double) -> String {
    var (days, rest) = Int64(seconds.rounded(.down)).quotientAndRemainder(dividingBy: 86_400)
    if rest < 0 { (days, rest) = (days - 1, rest + 86_400) }
    // Howard Hinnant's civil_from_days.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let day = shifted - era * 146_097
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
    let ordinal = day - (365 * year + year / 4 - year / 100)
    let month = (5 * ordinal + 2) / 153
    let number = month < 10 ? month + 3 : month - 9
    return "\"\(padded(year + era * 400 + (number <= 2 ? 1 : 0), 4))-\(padded(number, 2))-"
      + "\(padded(ordinal - (153 * month + 2) / 5 + 1, 2))T\(padded(rest / 3_600, 2)):\(padded(rest / 60 % 60, 2)):"
      + "\(padded(rest % 60, 2))Z\""
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  static func object(_ members: [String: String?]) -> String {
    "{"
      + members.compactMap { key, value in value.map { (key, $0) } }.sorted { $0.0 < $1.0 }
      .map { "\(text($0)):\($1)" }.joined(separator: ",") + "}"
  }
}

/// A request as the apps parse it: the first bytes that arrive are taken for the whole request.
struct PhoneRequest {
  var method: String
  var target: String
  /// The header fields with their names as sent: the apps compare names case-sensitively.
  var fields: [String: String]
  var body: [UInt8]

  /// Parses a request. Returns `nil` for bytes that the apps don't recognize as a request.
  init?(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self), let end = text.range(of: "\r\n\r\n") else { return nil }
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    let words = lines[0].components(separatedBy: " ")
    guard words.count >= 2 else { return nil }
    (method, target, fields) = (words[0], words[1], [:])
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[String(line[..<colon])] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    body = Array(text[end.upperBound...].utf8)
  }
}
