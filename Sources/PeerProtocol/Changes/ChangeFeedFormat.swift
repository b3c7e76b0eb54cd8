import Foundation
import HealthModel

/// How a change feed is written.
public enum ChangeFeedFormat: String, Sendable, CaseIterable {
  /// For programs that move many samples: `changes.proto`. Its name has the version of what is said, so that a program
  /// which would understand half of it is refused.
  case columns = "application/vnd.hpeer.changes.3"
  /// For people and other languages: ``ChangeLine``.
  case lines = "application/x-ndjson"

  /// What a caller asks for with its `Accept` header (RFC 9110 section 12.5.1): columns, unless it names lines and not
  /// columns; `nil` for a caller that names columns of another version only.
  public init?(accept: String?) {
    let accepted = (accept ?? "").split(separator: ",").map { Self.mediaType($0) }
    if accepted.contains(Self.columns.rawValue) {
      self = .columns
    } else if accepted.contains(where: Self.isColumns) {
      return nil
    } else {
      self = accepted.contains(Self.lines.rawValue) ? .lines : .columns
    }
  }

  /// Whether a `Content-Type` is that of columns, of whichever version.
  public static func isColumns(_ contentType: String) -> Bool {
    mediaType(contentType).hasPrefix("application/vnd.hpeer.changes")
  }

  private static func mediaType(_ text: some StringProtocol) -> String {
    text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
  }

  /// By the `Content-Type` of an answer; `nil` for something else.
  public init?(contentType: String?) {
    guard let format = contentType.map({ Self.mediaType($0) }).flatMap(Self.init(rawValue:)) else { return nil }
    self = format
  }
}

/// Some changes of a feed, and the change token that covers them and all before.
public struct ChangeFeedBatch: Hashable, Sendable {
  /// May be empty in the last batch of an answer.
  public var changes: CodedChanges
  /// A sealed ``ChangeToken``, opaque to the client: save it together with the changes, in one transaction.
  public var token: String
  /// There was more when the batch was read.
  public var more: Bool

  /// - Parameter token: as ``ChangeTokenSeal/text(of:)`` makes it.
  public init(changes: CodedChanges, token: String, more: Bool) {
    self.changes = changes
    self.token = token
    self.more = more
  }
}
