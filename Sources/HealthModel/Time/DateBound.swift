import Foundation

/// A beginning or an end that a person names: a whole day, a time on the clock of some zone, or an instant.
///
/// ```swift
/// guard let from = DateBound("2024-06-15"), let zone = TimeZone(identifier: "Europe/Berlin") else { return }
/// let day = from.start(in: zone)..<from.end(in: zone)  // 2024-06-14T22:00:00Z ..< 2024-06-15T22:00:00Z
/// ```
public enum DateBound: Hashable, Sendable {
  /// `2024-06-15`: begins with the day, or ends with it.
  case day(CivilTime)
  /// `2024-06-15T10:30`, with seconds and fractions if need be.
  case time(CivilTime)
  /// A time with its offset, which is the same wherever it is read.
  case instant(Timestamp)

  /// Reads a date, or a time with or without seconds and with or without an offset (ISO 8601); `nil` for anything else,
  /// such as `yesterday`.
  public init?(_ text: String) {
    if let time = CivilTime(text) {
      self = text.contains { $0 == "T" || $0 == " " } ? .time(time) : .day(time)
    } else if let instant = Timestamp(iso8601: text) {
      self = .instant(instant)
    } else {
      return nil
    }
  }

  /// The first instant of what begins so. Of a time that was twice, the first.
  public func start(in zone: TimeZone) -> Timestamp {
    switch self {
    case .day(let time), .time(let time): zone.first(of: time)
    case .instant(let instant): instant
    }
  }

  /// The first instant after what ends so: a day is whole, a time is not included. Of a time that was twice, the second.
  public func end(in zone: TimeZone) -> Timestamp {
    switch self {
    case .day(let time): zone.first(of: time.advanced(byDays: 1))
    case .time(let time): zone.last(of: time)
    case .instant(let instant): instant
    }
  }

  /// The two instants that a time may mean on a day on which clocks are put back; empty where there is no doubt.
  public func doubt(in zone: TimeZone) -> [Timestamp] {
    guard case .time(let time) = self else { return [] }
    let instants = zone.instants(of: time)
    return instants.count > 1 ? instants : []
  }
}
