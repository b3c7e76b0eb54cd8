import HealthModel

/// `data` of the answer to `POST /api/v2/person`.
public struct PersonAnswer: Hashable, Sendable, Codable {
  /// Whether client and server keep the record of one person.
  public enum Verdict: String, Hashable, Sendable, Codable {
    /// Both dates of birth are the same, and nothing else that both know differs.
    case same
    /// The dates of birth differ, or something else does that both know.
    case different
    /// A side does not know the date of birth, or does not compare.
    case unknown
  }

  /// In JSON, the member `person`.
  public var verdict: Verdict
  /// Names the server's person to this client and in this state: another person, or another value, has another mark.
  /// 1 to 64 characters of base64url that say nothing else. `nil` where the server has none.
  public var mark: String?

  /// The field of a change request that makes it fail with 412 where the server's person has another mark than this.
  public static let markHeader = "Hpeer-Person"

  /// - Parameter mark: not checked here; decoding checks it, since it comes from another machine there.
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
    // It is sent back in a field of a request.
    guard mark.map(Self.isMark) ?? true else {
      throw DecodingError.dataCorruptedError(forKey: .mark, in: container, debugDescription: "no mark")
    }
  }

  private static func isMark(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && RadixCoding.base64URL.decode(text) != nil
  }
}
