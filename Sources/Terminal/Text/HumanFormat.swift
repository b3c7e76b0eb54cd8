import Glibc

/// A set of number formats for people. They are the same on every machine and do not depend on `LANG`.
public enum HumanFormat {
  /// Returns a count with its digits in groups of three: `1,204,331`.
  public static func count(_ value: Int) -> String {
    let digits = Array(String(value.magnitude).utf8)
    var grouped: [UInt8] = value < 0 ? [UInt8(ascii: "-")] : []
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { grouped.append(UInt8(ascii: ",")) }
      grouped.append(digit)
    }
    return String(decoding: grouped, as: UTF8.self)
  }

  /// Returns a count and its noun: `1,204,331 samples`, `1 sample`.
  public static func count(_ value: Int, _ singular: String, _ plural: String? = nil) -> String {
    count(value) + " " + (value == 1 ? singular : plural ?? singular + "s")
  }

  /// Returns a number of bytes in decimal units with three significant digits: `12.4 MB`. Below 1,000 it is exact:
  /// `640 B`.
  public static func bytes(_ value: Int) -> String {
    let magnitude = value.magnitude
    let sign = value < 0 ? "-" : ""
    guard magnitude >= 1000 else { return "\(sign)\(magnitude) B" }
    var scaled = Double(magnitude) / 1000
    for unit in ["kB", "MB", "GB", "TB", "PB", "EB"] {
      // 999.5 would print as 1000 in three digits, so it belongs to the next unit.
      if scaled < 999.5 { return sign + threeDigits(scaled) + " " + unit }
      scaled /= 1000
    }
    return sign + threeDigits(scaled * 1000) + " EB"
  }

  /// Returns a rate with four significant digits, or with one decimal below 10: `184,200/s`.
  public static func rate(perSecond value: Double) -> String {
    perSecond(value) + "/s"
  }

  /// Returns a rate of bytes: `12.4 MB/s`.
  public static func byteRate(perSecond value: Double) -> String {
    bytes(whole(value)) + "/s"
  }

  /// Returns an elapsed time: `35 ms`, `0.4 s`, `42 s`, `1 min 12 s`, `2 h 5 min`, `3 d 4 h`.
  public static func duration(_ duration: Duration) -> String {
    let seconds = max(0, seconds(in: duration))
    let tenths = whole(seconds * 10)
    if seconds < 0.0995 { return "\(whole(seconds * 1000)) ms" }
    if tenths < 100 { return "\(tenths / 10).\(tenths % 10) s" }
    let total = whole(seconds)
    let (minutes, hours, days) = (total / 60, total / 3600, total / 86_400)
    if minutes == 0 { return "\(total) s" }
    if hours == 0 { return pair(minutes, "min", total % 60, "s") }
    if days == 0 { return pair(hours, "h", minutes % 60, "min") }
    return pair(days, "d", hours % 24, "h")
  }

  /// Returns a countdown: `4:12`, `1:04:12`. It is rounded up, so that `0:00` means it is over.
  public static func countdown(_ duration: Duration) -> String {
    let total = whole(max(0, seconds(in: duration)).rounded(.up))
    let seconds = twoDigits(total % 60)
    guard total >= 3600 else { return "\(total / 60):\(seconds)" }
    return "\(total / 3600):\(twoDigits(total / 60 % 60)):\(seconds)"
  }

  /// Returns a value to twelve significant digits: `72`, `5.23`, `0.0000024`. Rounding hides what binary fractions
  /// add (`28.299999999999997`).
  public static func number(_ value: Double) -> String {
    if value.rounded() == value, abs(value) < 1e15 { return String(Int(value)) }
    let scale = pow(10, 11 - log10(abs(value)).rounded(.down))
    let rounded = (value * scale).rounded() / scale
    guard rounded.isFinite, scale.isFinite, scale > 0 else { return "\(value)" }
    if rounded.rounded() == rounded, abs(rounded) < 1e15 { return String(Int(rounded)) }
    guard abs(rounded) < 1e-4, abs(rounded) >= 1e-9 else { return "\(rounded)" }
    // Without an exponent, which few people read.
    var digits = String(Int((abs(value) * scale).rounded()))
    digits = String(repeating: "0", count: max(0, Int(log10(scale).rounded()) - digits.utf8.count)) + digits
    while digits.last == "0" { digits.removeLast() }
    return (value < 0 ? "-0." : "0.") + digits
  }

  /// Returns the same text as ``number(_:)``, with the digits of the whole part in groups of three: `71,178.8`.
  public static func grouped(_ value: Double) -> String {
    let text = number(value)
    let whole = text.prefix { $0 != "." }
    guard whole.utf8.count > 3, let number = Int(whole) else { return text }
    return count(number) + text.dropFirst(whole.count)
  }

  // MARK: Digits

  private static func perSecond(_ value: Double) -> String {
    // The condition is negated so that NaN counts as 0.
    if !(value >= 9.95) {
      let tenths = whole(value * 10)
      return "\(tenths / 10).\(tenths % 10)"
    }
    let number = whole(value)
    var step = 1
    while number / step >= 10_000 { step *= 10 }
    let remainder = number % step
    return count(number - remainder + (remainder * 2 >= step && step > 1 ? step : 0))
  }

  /// Returns a value in 1..<999.5 with three digits: `1.24`, `12.4` or `124`.
  private static func threeDigits(_ value: Double) -> String {
    if value < 9.995 {
      let hundredths = whole(value * 100)
      return "\(hundredths / 100).\(twoDigits(hundredths % 100))"
    }
    if value < 99.95 {
      let tenths = whole(value * 10)
      return "\(tenths / 10).\(tenths % 10)"
    }
    return String(whole(value))
  }

  private static func pair(_ large: Int, _ largeUnit: String, _ small: Int, _ smallUnit: String) -> String {
    small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
  }

  private static func twoDigits(_ value: Int) -> String {
    value < 10 ? "0\(value)" : String(value)
  }

  private static func seconds(in duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  /// Returns the nearest whole number. NaN and numbers below zero give 0; large numbers are limited to 10^18.
  private static func whole(_ value: Double) -> Int {
    value > 0 ? Int(min(value, 1e18).rounded()) : 0
  }
}
