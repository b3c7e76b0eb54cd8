import Foundation
import HealthModel

/// A line of the change feed as NDJSON (`application/x-ndjson`).
///
///     {"added":{"uuid":…,"type":…,…},"road":…,"statement":…}
///     {"deleted":{"sample":{"type":…,"start":…,"uuid":…},"deleted":…,"end":…,"source":…,"road":…,"statement":…}}
///     {"token":"…","more":true}
///
/// A token line ends each batch and covers everything before it. `more` says whether more changes existed when the
/// batch was read. The stream ends after a token line; if that line has `"more":true`, the client asks again with its
/// token. A batch with `"more":true` holds at least one change, and its token differs from the previous batch's and
/// from the request's. The stream ends after a batch with `"more":false`. A server that fails midway sends
/// `{"error":"…"}`.
public enum ChangeLine: Hashable, Sendable {
  /// An added sample.
  case added(Sample, road: SampleRoad = .unknown, statement: KeyStatement? = nil)
  /// A deleted sample. Deletions come before additions within a batch.
  case deleted(Tombstone)
  /// The end of a batch.
  case token(String, more: Bool)
  /// An error message for a person. No line follows, and the changes since the last token are void.
  case error(String)
}

extension ChangeLine: Codable {
  private enum Key: String, CodingKey { case added, road, statement, deleted, token, more, error }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    guard Set(object.allKeys).subtracting([.more, .road, .statement]).count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: object.codingPath, debugDescription: "not exactly one of added, deleted, token, error"))
    }
    if let sample = try object.decodeIfPresent(Sample.self, forKey: .added) {
      self = .added(
        sample, road: try object.decodeIfPresent(SampleRoad.self, forKey: .road) ?? .unknown,
        statement: try object.decodeIfPresent(KeyStatement.self, forKey: .statement))
    } else if let tombstone = try object.decodeIfPresent(Tombstone.self, forKey: .deleted) {
      self = .deleted(tombstone)
    } else if let token = try object.decodeIfPresent(String.self, forKey: .token) {
      self = .token(token, more: try object.decode(Bool.self, forKey: .more))
    } else {
      self = .error(try object.decode(String.self, forKey: .error))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    switch self {
    case .added(let sample, let road, let statement):
      try object.encode(sample, forKey: .added)
      try object.encodeIfPresent(statement, forKey: .statement)
      if road != .unknown { try object.encode(road, forKey: .road) }
    case .deleted(let tombstone): try object.encode(tombstone, forKey: .deleted)
    case .token(let token, let more):
      try object.encode(token, forKey: .token)
      try object.encode(more, forKey: .more)
    case .error(let message): try object.encode(message, forKey: .error)
    }
  }
}

/// The HTTP header fields of the change feed.
public enum ChangeFeed {
  /// The response header with the maximum number of changes that may follow, for progress bars.
  public static let expectedHeader = "Hpeer-Changes"
}

/// An encoder of change lines. Each line ends with a line feed.
public struct ChangeLineEncoder {
  private let encoder = JSONEncoder()
  private static let lineFeed = UInt8(ascii: "\n")

  /// Creates an encoder that reuses one JSON encoder for all lines.
  public init() {
    encoder.outputFormatting = [.withoutEscapingSlashes]
  }

  /// Appends one line.
  ///
  /// - Throws: `EncodingError` for a sample that cannot be written as JSON.
  public func encode(_ line: ChangeLine, into bytes: inout [UInt8]) throws {
    bytes.append(contentsOf: try encoder.encode(line))
    bytes.append(Self.lineFeed)
  }
}
