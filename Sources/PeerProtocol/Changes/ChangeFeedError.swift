/// Why a change feed could not be read.
public enum ChangeFeedError: Error, Hashable, Sendable {
  /// The line with this number (from 1) is not what the format says.
  case malformed(line: Int)
  /// A line is longer than any sample may be.
  case lineTooLong(line: Int)
  /// The batch with this number (from 1) is not what `changes.proto` says.
  case malformedBatch(Int)
  /// The batch with this number is larger than any may be.
  case batchTooLarge(Int)
  /// So many changes came without a change token that covers them.
  case noToken(changes: Int)
  /// A change token of so many bytes, none or too many.
  case badToken(bytes: Int)
  /// A batch that is not the last brings no change, or has the token of the one before; or one follows the last; or the
  /// same changes come again and again.
  case noProgress
  /// The feed is of another version of hpeer than this one takes.
  case otherVersion
  /// The server stopped with this message.
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
