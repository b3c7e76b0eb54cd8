/// A reason why a change feed could not be read.
public enum ChangeFeedError: Error, Hashable, Sendable {
  /// The line with this number, counted from 1, violates the format.
  case malformed(line: Int)
  /// A line is longer than the limit for any sample.
  case lineTooLong(line: Int)
  /// The batch with this number, counted from 1, violates `changes.proto`.
  case malformedBatch(Int)
  /// The batch with this number exceeds a size limit.
  case batchTooLarge(Int)
  /// The number of changes received without a token that covers them exceeds the limit.
  case noToken(changes: Int)
  /// A change token is empty or too long; the value is its size in bytes.
  case badToken(bytes: Int)
  /// The feed makes no progress: a batch other than the last has no changes or repeats the previous token, a batch
  /// follows the last, or the same changes are sent again and again.
  case noProgress
  /// The feed is in the format of another, incompatible version of hpeer.
  case otherVersion
  /// The server ended the feed with this message.
  case server(String)
  /// The stream ended before its last token.
  case cutOff
}

extension ChangeFeedError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed(let line): "The other machine sent something that is not a change feed (line \(line))."
    case .lineTooLong(let line): "The other machine sent a change that is too large to be one (line \(line))."
    case .malformedBatch(let batch):
      "The other machine sent something that is not a change feed (batch \(batch))."
    case .batchTooLarge(let batch):
      "The other machine sent more at once than any change feed holds (batch \(batch))."
    case .noToken(let changes):
      "The other machine sent \(changes) changes without saying up to where they go."
    case .badToken(let bytes): "The other machine sent a change token of \(bytes) bytes."
    case .noProgress: "The other machine goes on without sending anything new."
    case .otherVersion:
      "The other machine runs another version of hpeer, and the changes that it sends are not understood here: update hpeer on both."
    case .server(let message): "The other machine stopped in the middle: \(message)"
    case .cutOff: "The connection ended before all changes had arrived."
    }
  }
}
