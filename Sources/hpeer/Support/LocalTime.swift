import Foundation
import HealthModel

extension Timestamp {
  /// To the microsecond.
  init(_ date: Date) {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    self.init(microseconds: Int64(exactly: microseconds) ?? (microseconds > 0 ? .max : .min))
  }
}

extension Date {
  /// As this machine's clock shows it, to the second, with its offset: for lines of a log, which no option is about.
  var localText: String { Timestamp(seconds: Timestamp(self).seconds).iso8601(in: .current) }

  init(_ instant: Timestamp) { self.init(timeIntervalSince1970: Double(instant.microseconds) / 1_000_000) }
}

extension Duration {
  /// Seconds to the millisecond, as reports in JSON have them.
  var reportedSeconds: Double { (self / .seconds(1) * 1000).rounded() / 1000 }
}

extension Timestamp {
  /// To the minute, without the offset: for tables whose times are all of one zone.
  func shortText(in zone: TimeZone) -> String {
    String(iso8601(in: zone).prefix(16)).replacingOccurrences(of: "T", with: " ")
  }
}
