import Foundation
import HealthModel
import TestSupport

/// The samples of a type from a single source, ordered by start.
struct Series: Sendable {
  private let kind: SeriesKind
  private let rhythm: Rhythm
  private let identity: HealthHistory.Identity
  private let count: Int
  /// The time after which samples arrive live, in seconds since 1970.
  private let live: Int64
  private let isExact: Bool
  private var random: SeededGenerator
  private var index = 0
  /// The start of the next sample, in seconds since 1970.
  private(set) var start: Int64
  private var following: Int64
  /// The time at which the source last wrote samples. Several samples share the time.
  private var sync: Int64 = 0
  private var syncFraction: Int64 = 0
  /// The level around which values vary.
  private var level = 0.5

  init(
    _ kind: SeriesKind, count: Int, identity: HealthHistory.Identity, live: Int64, isExact: Bool = false,
    random: SeededGenerator
  ) {
    self.kind = kind
    self.identity = identity
    self.count = count
    self.live = live
    self.isExact = isExact
    self.random = random
    rhythm = Rhythm(gap: kind.gap, run: kind.run, count: count)
    start = rhythm.start(of: 0, after: HealthHistory.begin, &self.random)
    following = rhythm.start(of: 1, after: start, &self.random)
  }

  var isOver: Bool { index >= count }
  var hasImports: Bool { !isOver && start < live }

  /// Returns the next sample. A correlation comes after its members.
  mutating func next() -> [Sample] {
    let isLive = start >= live
    // What is contiguous is so within a run only.
    let length = min(kind.isContiguous ? kind.gap.upperBound : kind.length.draw(&random), following - start)
    let end = start + length
    if end > sync {
      sync = end + kind.delay.draw(&random)
      syncFraction = isLive && kind.hasFractions ? (1...999_999).draw(&random) : 0
    }
    level = min(1, max(0, level + Double.random(in: -0.08...0.08, using: &random)))

    var draw = Draw(level: level, length: Double(length), isLive: isLive, isExact: isExact, random: random)
    let content = kind.content(&draw)
    random = draw.random
    let fraction = isLive && kind.hasFractions ? (0...999_999).draw(&random) : 0
    let sample = Sample(
      uuid: uuid(), type: kind.type, start: Timestamp(microseconds: start * 1_000_000 + fraction),
      end: Timestamp(microseconds: end * 1_000_000 + fraction),
      created: Timestamp(microseconds: sync * 1_000_000 + syncFraction),
      source: kind.person.source(at: start, isLive: isLive), device: kind.person.device(at: start),
      metadata: content.metadata, payload: content.payload)
    index += 1
    start = following
    following = rhythm.start(of: index + 1, after: start, &random)
    return finish(sample, members: content.members)
  }

  private mutating func finish(_ sample: Sample, members: [(SampleType, Quantity)]) -> [Sample] {
    var samples: [Sample] = []
    for (type, quantity) in members {
      var member = sample
      member.type = type
      member.payload = .quantity(quantity)
      member.uuid = uuid()
      samples.append(identified(member))
    }
    var sample = sample
    if !members.isEmpty { sample.payload = .correlation(Correlation(members: samples.map(\.reference))) }
    samples.append(identified(sample))
    return samples
  }

  private func identified(_ sample: Sample) -> Sample {
    guard identity == .derived else { return sample }
    var sample = sample
    sample.uuid = SampleIdentity.uuid(
      kind: sample.payload.kind, type: sample.type, source: sample.source.name, start: sample.start, end: sample.end,
      created: sample.created, ordinal: 0)
    return sample
  }

  /// Returns a UUID of version 4 (RFC 9562 section 5.4).
  private mutating func uuid() -> UUID { random.uuid() }
}

extension SeededGenerator {
  mutating func uuid() -> UUID {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) {
      $0.storeBytes(of: next(), toByteOffset: 0, as: UInt64.self)
      $0.storeBytes(of: next(), toByteOffset: 8, as: UInt64.self)
      $0[6] = $0[6] & 0x0F | 0x40
      $0[8] = $0[8] & 0x3F | 0x80
    }
    return UUID(uuid: bytes)
  }
}

extension ClosedRange<Int64> {
  func draw(_ random: inout SeededGenerator) -> Int64 { Int64.random(in: self, using: &random) }
}
