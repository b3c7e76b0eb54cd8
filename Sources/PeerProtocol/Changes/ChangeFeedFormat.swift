import Foundation

/// How a change feed is written.
public enum ChangeFeedFormat: String, Sendable, CaseIterable {
  /// For programs that move many samples: `changes.proto`.
  case columns = "application/vnd.hpeer.changes"
  /// For people and other languages: ``ChangeLine``.
  case lines = "application/x-ndjson"

  /// What a caller asks for with its `Accept` header (RFC 9110 section 12.5.1): columns, unless it names lines and not
  /// columns.
  public init(accept: String?) {
    let accepted = accept?.lowercased() ?? ""
    self = accepted.contains(Self.lines.rawValue) && !accepted.contains(Self.columns.rawValue) ? .lines : .columns
  }

  /// By the `Content-Type` of an answer; `nil` for something else.
  public init?(contentType: String?) {
    let mediaType = contentType?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    guard let format = mediaType.flatMap(Self.init(rawValue:)) else { return nil }
    self = format
  }
}
