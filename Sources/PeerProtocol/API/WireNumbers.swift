/// A count that another machine says, held to a range before anything is computed with it. Decoding another throws
/// `DecodingError`.
///
/// ```swift
/// func total(done: Int, header: String) -> Int? { WireCount(header).map { done + $0.rawValue } }
/// ```
public struct WireCount: RawRepresentable, Codable, Hashable, Sendable {
  /// More than any record holds; sums of thousands of them fit into 64 bits.
  public static let range = 0...(1 << 48) - 1

  /// Within ``range``.
  public let rawValue: Int

  /// `nil` out of ``range``.
  public init?(rawValue: Int) {
    guard Self.range.contains(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  /// The nearest count within ``range``: 0 for a negative number.
  public init(clamping value: Int) {
    rawValue = min(max(value, Self.range.lowerBound), Self.range.upperBound)
  }

  /// `nil` unless the text is a decimal number within ``range``, as in a header field: digits only.
  public init?(_ text: some StringProtocol) {
    guard (1...15).contains(text.utf8.count),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let value = Int(text)
    else { return nil }
    self.init(rawValue: value)
  }
}

/// An instant by another machine's clock, held to a range before anything is computed with it. Decoding another throws
/// `DecodingError`.
public struct WireInstant: RawRepresentable, Codable, Hashable, Sendable {
  /// Seconds since 1970: from 1900 up to the end of 2199.
  public static let range = -2_208_988_800.0..<7_258_118_400.0

  /// Seconds since 1970, within ``range``.
  public let rawValue: Double

  /// `nil` out of ``range``, and for what is no number.
  public init?(rawValue: Double) {
    guard Self.range.contains(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  /// The nearest instant within ``range``; 1970 for what is no number.
  public init(clamping value: Double) {
    rawValue = value.isNaN ? 0 : min(max(value, Self.range.lowerBound), Self.range.upperBound.nextDown)
  }
}
