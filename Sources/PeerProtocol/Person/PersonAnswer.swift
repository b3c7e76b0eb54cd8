import HealthModel

/// The content of the answer to `POST /api/v2/person`.
public struct PersonAnswer: Hashable, Sendable, Codable {
  /// The result of comparing the persons of two records.
  public enum Verdict: String, Hashable, Sendable, Codable {
    /// The dates of birth are equal, and no other trait known to both sides differs.
    case same
    /// The dates of birth differ, or another trait known to both sides does.
    case different
    /// A side does not know the date of birth or does not compare.
    case unknown
  }

  /// The verdict; the JSON member is `person`.
  public var verdict: Verdict
  /// An opaque identifier of the server's person and their traits, specific to this client, or `nil` if there is
  /// none: 1 to 64 characters of base64url. It changes with the person or any trait.
  public var mark: String?

  /// The header field of a change request with the expected mark. The request fails with 412 if the server's person
  /// has another mark.
  public static let markHeader = "Hpeer-Person"

  /// - Parameter mark: not validated here. Decoding validates it because it then comes from another machine.
  public init(_ verdict: Verdict, mark: String?) {
    self.verdict = verdict
    self.mark = mark
  }

  private enum CodingKeys: String, CodingKey {
    case verdict = "person"
    case mark
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    verdict = try container.decode(Verdict.self, forKey: .verdict)
    mark = try container.decodeIfPresent(String.self, forKey: .mark)
    // The mark is sent back in a header field of a request.
    guard mark.map(Self.isMark) ?? true else {
      throw DecodingError.dataCorruptedError(forKey: .mark, in: container, debugDescription: "no mark")
    }
  }

  private static func isMark(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && RadixCoding.base64URL.decode(text) != nil
  }
}
