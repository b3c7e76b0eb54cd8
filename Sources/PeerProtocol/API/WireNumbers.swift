/// A count that another machine says, held to a range before anything is computed with it.
///
///     let expected = WireCount(header).map { done.changes + $0.value }
public struct WireCount: Hashable, Sendable {
  /// More than any record holds; sums of thousands of them fit into 64 bits.
  public static let range = 0...(1 << 48) - 1

  /// Within ``range``.
  public let value: Int

  /// `nil` out of ``range``.
  public init?(_ value: Int) {
    guard Self.range.contains(value) else { return nil }
    self.value = value
  }

  public init(clamping value: Int) {
    self.value = min(max(value, Self.range.lowerBound), Self.range.upperBound)
  }

  /// `nil` unless the text is a decimal number within ``range``, as in a header field: digits only.
  public init?(_ text: some StringProtocol) {
    guard (1...15).contains(text.utf8.count),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let value = Int(text)
    else { return nil }
    self.init(value)
  }
}

extension WireCount: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let count = Self(try container.decode(Int.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "a count that nothing has")
    }
    self = count
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// An instant by another machine's clock, held to a range before anything is computed with it.
public struct WireInstant: Hashable, Sendable {
  /// Seconds since 1970: from 1900 up to the end of 2199.
  public static let range = -2_208_988_800.0..<7_258_118_400.0

  /// Seconds since 1970, within ``range``.
  public let seconds: Double

  /// `nil` out of ``range``, and for what is no number.
  public init?(seconds: Double) {
    guard Self.range.contains(seconds) else { return nil }
    self.seconds = seconds
  }
}

extension WireInstant: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let instant = Self(seconds: try container.decode(Double.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "an instant that no clock shows")
    }
    self = instant
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(seconds)
  }
}
