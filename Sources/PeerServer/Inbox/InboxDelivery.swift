import PeerTrust

/// The complete body of an inbox request.
public struct InboxDelivery: Sendable {
  /// The sender, identified by its secret.
  public let sender: InboxSender
  /// The received bytes, which may be compressed.
  public let bytes: [UInt8]
  /// The aggregation interval that Health Auto Export reports for its values.
  public let aggregation: String?
  /// The identifier of the Health Auto Export run that includes this body. Equal bytes of another run are new data.
  public let session: String?

  /// - Parameters:
  ///   - aggregation: the header field `automation-aggregation`.
  ///   - session: the header field `session-id`.
  public init(sender: InboxSender, bytes: [UInt8], aggregation: String? = nil, session: String? = nil) {
    (self.sender, self.bytes, self.aggregation, self.session) = (sender, bytes, aggregation, session)
  }
}

/// The answer to an accepted body. It only describes the body, never earlier data, so that nothing can be read
/// through an inbox.
public struct InboxReceipt: Codable, Hashable, Sendable {
  /// The name of the app format that was recognized.
  public var format: String
  /// The number of samples and readings that were understood and allowed.
  public var taken: Int
  /// The numbers of items left out, by reason.
  public var leftOut: [String: Int]

  /// The decompressed size in bytes, or 0 if the body was already known and not read. Not sent to the sender.
  public var contentBytes = 0

  private enum CodingKeys: CodingKey {
    case format, taken, leftOut
  }

  /// - Parameter leftOut: a small number of reasons with their counts.
  public init(format: String, taken: Int, leftOut: [String: Int], contentBytes: Int = 0) {
    (self.format, self.taken, self.leftOut, self.contentBytes) = (format, taken, leftOut, contentBytes)
  }
}

/// A reason why a body is refused. The sentences address the person who set up the app and reveal nothing about the
/// record.
public enum InboxRefusal: Error, Hashable, Sendable {
  /// The body is of no known format, or incomplete (400).
  case unreadable(String)
  /// The body is too large (413).
  case tooMuch(String)
  /// All types in the body are outside the sender's scope (403).
  case outOfScope
  /// The record belongs to another person than when the sender was added (409).
  case anotherPerson
  /// The sender has introduced more names of sources and types than allowed (429).
  case tooManyNames(limit: Int)
}

/// A receiver of inbox deliveries.
public protocol InboxHandler: Sendable {
  /// Stores a complete body or none of it. Called for one body at a time.
  ///
  /// - Throws: ``InboxRefusal``, or an error of the store or registry, after which the same body may be sent again.
  func take(_ delivery: InboxDelivery) async throws -> InboxReceipt
}
