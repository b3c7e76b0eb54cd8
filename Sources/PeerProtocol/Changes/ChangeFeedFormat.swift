import Foundation
import HealthModel

/// A format of the change feed; the raw value is its media type.
public enum ChangeFeedFormat: String, Sendable, CaseIterable {
  /// The binary format of `changes.proto`, for programs that transfer many samples. The media type includes the
  /// version, so a program that knows only another version is refused.
  case columns = "application/vnd.hpeer.changes.3"
  /// The format for people and other languages: NDJSON of ``ChangeLine``.
  case lines = "application/x-ndjson"

  /// Chooses the format for an `Accept` header (RFC 9110 section 12.5.1): columns, unless the header names lines but
  /// not columns. Returns `nil` if it names only another version of columns.
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

  /// Returns whether a `Content-Type` names columns of any version.
  public static func isColumns(_ contentType: String) -> Bool {
    mediaType(contentType).hasPrefix("application/vnd.hpeer.changes")
  }

  private static func mediaType(_ text: some StringProtocol) -> String {
    text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
  }

  /// Creates the format named by the `Content-Type` of an answer, or returns `nil` for any other type.
  public init?(contentType: String?) {
    guard let format = contentType.map({ Self.mediaType($0) }).flatMap(Self.init(rawValue:)) else { return nil }
    self = format
  }
}

/// A part of the change feed, with the change token that covers its changes and all before them.
public struct ChangeFeedBatch: Hashable, Sendable {
  /// The changes, which may be empty in the last batch of an answer.
  public var changes: CodedChanges
  /// A sealed ``ChangeToken``, opaque to the client. Save it in the same transaction as the changes.
  public var token: String
  /// Whether more changes existed when the batch was read.
  public var more: Bool

  /// - Parameter token: the result of ``ChangeTokenSeal/text(of:)``.
  public init(changes: CodedChanges, token: String, more: Bool) {
    self.changes = changes
    self.token = token
    self.more = more
  }
}
