import Foundation
import HealthModel

/// A generator of samples of every kind that returns the same samples for the same seed.
///
/// ``sample()`` draws from all kinds, with unusual content now and then; ``steps(at:)`` returns the plain sample that
/// most tests need; ``edgeCases`` is a fixed list of extreme samples.
public struct SampleMaker: Sendable {
  public var random: SeededGenerator

  public init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  /// Returns a step count over a minute.
  ///
  /// - Parameter minute: The start, in minutes since the beginning of 2024.
  public mutating func steps(at minute: Int) -> Sample {
    let start = Timestamp(seconds: 1_704_067_200 + Int64(minute) * 60)
    return Sample(
      uuid: uuid(), type: Self.stepCount, start: start, end: Timestamp(seconds: start.seconds + 60),
      source: Source(name: "iPhone"),
      payload: .quantity(Quantity(Double(Int.random(in: 1...200, using: &random)), "count")))
  }

  /// Returns a random sample of any kind.
  public mutating func sample() -> Sample {
    let (type, payload) = typeAndPayload()
    let start = timestamp()
    let length = random.oneIn(20) ? -3_600_000_000 : Int64.random(in: 0...7_200_000_000, using: &random)
    return Sample(
      uuid: uuid(), type: type, start: start, end: random.oneIn(30) ? timestamp() : start.advanced(by: length),
      created: random.oneIn(3) ? nil : start.advanced(by: length &+ 1_000_000), source: random.pick(Self.sources),
      device: random.oneIn(2) ? nil : random.pick(Self.devices), metadata: metadata(), payload: payload)
  }

  public mutating func samples(_ count: Int) -> [Sample] {
    (0..<count).map { _ in sample() }
  }

  /// Returns a random UUID of version 4, like those of HealthKit.
  public mutating func uuid() -> UUID {
    var bytes = UUID().uuid
    withUnsafeMutableBytes(of: &bytes) {
      $0.storeBytes(of: random.next(), toByteOffset: 0, as: UInt64.self)
      $0.storeBytes(of: random.next(), toByteOffset: 8, as: UInt64.self)
    }
    bytes.6 = bytes.6 & 0x0F | 0x40
    bytes.8 = bytes.8 & 0x3F | 0x80
    return UUID(uuid: bytes)
  }

  /// Returns an instant between 2015 and 2024, with microseconds, or once in fifty times an extreme instant.
  public mutating func timestamp() -> Timestamp {
    if random.oneIn(50) { return random.pick(Self.extremes) }
    return Timestamp(microseconds: Int64.random(in: 1_420_070_400_000_000...1_735_689_600_000_000, using: &random))
  }

  /// Returns little or no metadata, or once in two hundred times metadata of about 40 kB.
  public mutating func metadata() -> Metadata {
    if random.oneIn(200) {
      return Dictionary(
        uniqueKeysWithValues: (0..<200).map { ("key \($0)", .string(String(repeating: "😴x", count: 40))) })
    }
    guard random.oneIn(2) else { return [:] }
    return Dictionary(
      (0...Int.random(in: 0...3, using: &random)).map { _ in (random.pick(Self.texts), metadataValue()) },
      uniquingKeysWith: { first, _ in first })
  }
}

extension Timestamp {
  fileprivate func advanced(by microseconds: Int64) -> Timestamp {
    Timestamp(microseconds: self.microseconds &+ microseconds)
  }
}

// MARK: - What they are made of

extension SampleMaker {
  public static let stepCount = SampleType("HKQuantityTypeIdentifierStepCount")

  static let extremes = [0, -1, 1, .min, .max, -62_135_596_800_000_000, 253_402_300_800_000_000].map(
    Timestamp.init(microseconds:))

  /// Texts with quotes, control characters, no-break spaces, both spellings of `é` and four-byte characters, and the
  /// empty text.
  static let texts = [
    "", "HKTimeZone", "Europe/Berlin", "Casey\u{2019}s\u{A0}Apple Watch", "Ren\u{E9}", "Rene\u{301}", "😴👩‍👩‍👧", "\"\\/",
    "a\nb\tc",
    "\0", "a\0b", "健康", "null", "'; DROP TABLE sample; --",
  ]

  static let sources = [
    Source(name: "Health"), Source(name: "", bundleIdentifier: "", version: ""),
    Source(name: "Casey\u{2019}s\u{A0}Apple Watch", bundleIdentifier: "com.apple.health.12", version: "10.3.1"),
    Source(name: "Ren\u{E9}s iPhone", version: "17.5"), Source(name: "Rene\u{301}s iPhone", version: "17.5"),
    Source(name: "😴\0"),
  ]

  static let devices = [
    Device(), Device(name: "", text: ""),
    Device(
      name: "Apple Watch", manufacturer: "Apple Inc.", model: "Watch", hardwareVersion: "Watch6,2",
      firmwareVersion: "1", softwareVersion: "10.3.1", localIdentifier: "A-B", udiDeviceIdentifier: "(01)0"),
    Device(text: "<<HKDevice: 0x0>, name:Rene\u{301}>"),
  ]

  private mutating func metadataValue() -> MetadataValue {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: .string(random.pick(Self.texts))
    case 1: .integer(random.oneIn(5) ? random.pick([.min, .max]) : Int64.random(in: -9...9, using: &random))
    case 2: .number(number())
    case 3: .bool(Bool.random(using: &random))
    default: .date(timestamp())
    }
  }

  mutating func number() -> Double {
    if random.oneIn(12) {
      return random.pick([
        0, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, -.leastNonzeroMagnitude, 9_007_199_254_740_991, 0.1,
      ])
    }
    return Double.random(in: -1000...1000, using: &random)
  }
}
