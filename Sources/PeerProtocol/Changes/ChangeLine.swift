import Foundation
import HealthModel

/// One line of the change feed as NDJSON (`application/x-ndjson`).
///
///     {"added":{"uuid":…,"type":…,…},"road":…,"statement":…}
///     {"deleted":{"sample":{"type":…,"start":…,"uuid":…},"deleted":…,"end":…,"source":…,"road":…,"statement":…}}
///     {"token":"…","more":true}
///
/// A token line ends each batch: what came before it, and nothing after, is covered by the token. `more` says whether
/// there was more when the batch was read. The stream ends after a token line; whoever sees `more` there asks again with
/// that token. A batch with `"more":true` holds a change at least, and has another token than the one before it and than
/// the one that was asked with; after one with `"more":false` the stream ends. A server that fails in the middle says
/// `{"error":"…"}`.
public enum ChangeLine: Hashable, Sendable {
  /// One addition.
  case added(Sample, road: SampleRoad = .unknown, statement: KeyStatement? = nil)
  /// One deletion. Within a batch, deletions come before additions.
  case deleted(Tombstone)
  /// The end of a batch.
  case token(String, more: Bool)
  /// A sentence for a person; nothing comes after it, and what came since the last token is void.
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

/// What the change feed says outside its lines.
public enum ChangeFeed {
  /// The response header with the number of changes that may follow, at most; for progress bars.
  public static let expectedHeader = "Hpeer-Changes"
}

/// Encodes lines, each with its line feed.
public struct ChangeLineEncoder {
  private let encoder = JSONEncoder()
  private static let lineFeed = UInt8(ascii: "\n")

  /// Keeps its JSON encoder from line to line.
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
