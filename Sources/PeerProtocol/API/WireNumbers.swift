/// A count received from another machine, checked against a range before it is used in arithmetic. Decoding a number
/// outside the range throws `DecodingError`.
///
/// ```swift
/// func total(done: Int, header: String) -> Int? { WireCount(header).map { done + $0.rawValue } }
/// ```
public struct WireCount: RawRepresentable, Codable, Hashable, Sendable {
  /// The accepted counts. The maximum is above any real record, and sums of thousands of them fit into 64 bits.
  public static let range = 0...(1 << 48) - 1

  /// The count, within ``range``.
  public let rawValue: Int

  /// Creates a count, or returns `nil` if the number is outside ``range``.
  public init?(rawValue: Int) {
    guard Self.range.contains(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  /// Creates the count in ``range`` that is nearest to `value`: 0 for a negative number.
  public init(clamping value: Int) {
    rawValue = min(max(value, Self.range.lowerBound), Self.range.upperBound)
  }

  /// Parses a count from a header field, or returns `nil` unless the text is a decimal number within ``range``,
  /// digits only.
  public init?(_ text: some StringProtocol) {
    guard (1...15).contains(text.utf8.count),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let value = Int(text)
    else { return nil }
    self.init(rawValue: value)
  }
}

/// An instant by another machine's clock, checked against a range before it is used in arithmetic. Decoding a number
/// outside the range throws `DecodingError`.
public struct WireInstant: RawRepresentable, Codable, Hashable, Sendable {
  /// The accepted instants in seconds since 1970: from 1900 to the end of 2199.
  public static let range = -2_208_988_800.0..<7_258_118_400.0

  /// The instant in seconds since 1970, within ``range``.
  public let rawValue: Double

  /// Creates an instant, or returns `nil` if the number is outside ``range`` or NaN.
  public init?(rawValue: Double) {
    guard Self.range.contains(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  /// Creates the instant in ``range`` that is nearest to `value`; 1970 for NaN.
  public init(clamping value: Double) {
    rawValue = value.isNaN ? 0 : min(max(value, Self.range.lowerBound), Self.range.upperBound.nextDown)
  }
}
