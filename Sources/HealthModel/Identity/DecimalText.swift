import Foundation

/// Decimal text that sorts as text does and is the same on every machine.
enum DecimalText {
  /// `value` in scientific notation with `digits` significant digits: `1.2346e+03`.
  static func rounded(_ value: Double, digits: Int) -> String {
    String(format: "%.\(digits - 1)e", locale: Locale(identifier: "en_US_POSIX"), value)
  }
}
