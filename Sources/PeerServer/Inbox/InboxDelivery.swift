import PeerTrust

/// A body that a sender has sent, whole.
public struct InboxDelivery: Sendable {
  /// Whose secret came with it.
  public let sender: InboxSender
  /// As they came, perhaps compressed.
  public let bytes: [UInt8]
  /// What Health Auto Export says of how it has summed up.
  public let aggregation: String?
  /// What Health Auto Export calls the run that the body is a part of: the same bytes of another run are news.
  public let session: String?

  /// - Parameters:
  ///   - aggregation: the header field `automation-aggregation`.
  ///   - session: the header field `session-id`.
  public init(sender: InboxSender, bytes: [UInt8], aggregation: String? = nil, session: String? = nil) {
    (self.sender, self.bytes, self.aggregation, self.session) = (sender, bytes, aggregation, session)
  }
}

/// What a sender is told of a body that was taken. It says what came, never what was here before: nothing can be read
/// through an inbox.
public struct InboxReceipt: Codable, Hashable, Sendable {
  /// Which app's body it was taken for.
  public var format: String
  /// How many samples and readings it held that were understood and may be sent.
  public var taken: Int
  /// What it held beside them, by reason.
  public var leftOut: [String: Int]

  /// How many bytes it had, not compressed any more; 0 where the body was known and not read. No sender is told.
  public var contentBytes = 0

  private enum CodingKeys: CodingKey {
    case format, taken, leftOut
  }

  /// - Parameter leftOut: a few reasons with their counts.
  public init(format: String, taken: Int, leftOut: [String: Int], contentBytes: Int = 0) {
    (self.format, self.taken, self.leftOut, self.contentBytes) = (format, taken, leftOut, contentBytes)
  }
}

/// Why a body is not taken. The sentences are for whoever has set up the app, and say nothing of the record.
public enum InboxRefusal: Error, Hashable, Sendable {
  /// 400: it is none that is taken, or is not whole.
  case unreadable(String)
  /// 413: it is too much at once.
  case tooMuch(String)
  /// 403: all that it holds is of types that this sender may not send.
  case outOfScope
  /// 409: the record is another person's than when the sender was added.
  case anotherPerson
  /// 429: the sender has brought more names of sources and types than one may.
  case tooManyNames(limit: Int)
}

/// Takes what comes to an inbox.
public protocol InboxTaking: Sendable {
  /// Takes a body whole, or nothing of it. Called for one body at a time.
  ///
  /// - Throws: ``InboxRefusal``, or an error of the store or the registry, after which the same body may be sent again.
  func take(_ delivery: InboxDelivery) async throws -> InboxReceipt
}
