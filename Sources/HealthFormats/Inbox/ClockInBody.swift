import Foundation

/// The offset from UTC at which a body writes its times: the phone's clock.
public struct ClockInBody: Hashable, Sendable {
  /// The first time in the body.
  public var date: Date
  /// The offset from UTC then, in seconds, within ±14 hours.
  public var offset: Int

  /// The most bytes of a body that are looked at.
  private static let limit = 65_536

  /// Finds the first time with an offset, such as `2026-03-28 07:00:00 +0100` or `2026-03-28T07:00:00+01:00`; nil if the body has
  /// none, as of an app that writes UTC.
  ///
  /// ```swift
  /// let clock = ClockInBody(Array(#"{"date":"2026-03-28 07:00:00 +0100"}"#.utf8))
  /// print(clock?.offset ?? 0)  // 3600
  /// ```
  public init?(_ bytes: [UInt8]) {
    let text = String(decoding: bytes.prefix(Self.limit), as: UTF8.self)
    let pattern =
      #/([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)? ?([+-])([0-9]{2}):?([0-9]{2})(?![0-9])/#
    guard let found = text.firstMatch(of: pattern), let hours = Int(found.4), let minutes = Int(found.5),
      hours * 60 + minutes <= 14 * 60, minutes < 60
    else { return nil }
    offset = (found.3 == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
    guard let local = try? Date("\(found.1)T\(found.2)Z", strategy: .iso8601) else { return nil }
    date = local.addingTimeInterval(-TimeInterval(offset))
  }
}
