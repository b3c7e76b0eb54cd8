import Foundation
import HealthModel

/// The errors in an answer of a FHIR server (https://hl7.org/fhir/R4/operationoutcome.html). An answer of another
/// form has no errors.
struct FHIROutcome: Sendable {
  /// The first error, for a person; `nil` if there is none.
  var reason: String?
  /// The errors of Bundle entries, by index. Empty unless every error names an entry.
  var entries: [Int: String] = [:]

  /// The answer to a single entry.
  struct Answer: Hashable, Sendable {
    var status: Int
    var reason: String?
  }

  /// The maximum length of a reason in bytes. Secrets are removed before it is shortened for display.
  private static let longestReason = 10_000

  private struct Outcome: Decodable {
    struct Issue: Decodable {
      struct Details: Decodable { var text: String? }

      var severity: String?
      var code: String?
      var details: Details?
      var diagnostics: String?
      var expression: [String]?
      var location: [String]?

      var isError: Bool { severity != "warning" && severity != "information" }

      var text: String {
        let text = details?.text ?? diagnostics ?? code ?? "unknown"
        // Control characters would disturb a terminal or the lines of a file.
        let scalars = text.shortened(toBytes: longestReason).unicodeScalars.map {
          $0.properties.generalCategory == .control ? " " : $0
        }
        return String(String.UnicodeScalarView(scalars))
      }
    }

    var issue: [Issue]?
  }

  private struct Bundle: Decodable {
    struct Entry: Decodable {
      struct Response: Decodable {
        var status: String?
        var outcome: Outcome?
      }

      var response: Response?
    }

    var entry: [Entry]?
  }

  init(_ body: [UInt8]) {
    self.init((try? JSONDecoder().decode(Outcome.self, from: Data(body))) ?? Outcome())
  }

  private init(_ outcome: Outcome) {
    let errors = (outcome.issue ?? []).filter(\.isError)
    reason = errors.first?.text
    for error in errors {
      let places = (error.expression ?? []) + (error.location ?? [])
      guard let place = places.lazy.compactMap(Self.entry).first else {
        entries = [:]
        return
      }
      if entries[place] == nil { entries[place] = error.text }
    }
  }

  /// Returns the index of an entry: 3 for `Bundle.entry[3].resource.status`.
  private static func entry(_ expression: String) -> Int? {
    let start = "Bundle.entry["
    guard expression.hasPrefix(start) else { return nil }
    let digits = expression.dropFirst(start.count).prefix { $0 != "]" }
    guard digits.utf8.count <= 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(digits)
  }

  // MARK: Bundles

  /// Returns whether a body is a FHIR answer and not, for example, a login page.
  static func isAnswer(_ body: [UInt8]) -> Bool {
    struct Resource: Decodable { var resourceType: String }
    let resource = try? JSONDecoder().decode(Resource.self, from: Data(body))
    return ["Bundle", "OperationOutcome"].contains(resource?.resourceType)
  }

  /// Returns the answers to all entries, in order. A missing or invalid status counts as 500.
  static func entries(of body: [UInt8]) -> [Answer] {
    guard let bundle = try? JSONDecoder().decode(Bundle.self, from: Data(body)) else { return [] }
    return (bundle.entry ?? []).map { entry in
      let status = entry.response?.status?.prefix(3) ?? ""
      return Answer(
        status: status.utf8.count == 3 ? Int(status).flatMap { (100...599).contains($0) ? $0 : nil } ?? 500 : 500,
        reason: entry.response?.outcome.flatMap { FHIROutcome($0).reason })
    }
  }

  /// Returns the id in a location: 123 in `https://example.org/fhir/Patient/123/_history/1`.
  static func id(inLocation location: String?, of type: String) -> String? {
    guard let parts = location?.split(separator: "/").map(String.init), let place = parts.lastIndex(of: type),
      parts.indices.contains(place + 1)
    else { return nil }
    return parts[place + 1]
  }

  /// Returns whether a text is a valid FHIR id, which is safe in an address and a reference.
  static func isID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || "-.".utf8.contains($0)
      }
  }
}
