import Foundation
import HealthModel
import TestSupport
import Testing

@testable import PeerProtocol

@Suite struct ColumnBatchTests {
  @Test func everyKindAndOddityTravelsUnchanged() throws {
    let samples = SampleMaker.edgeCases
    // NaN cannot be written as JSON numbers, and the large ones exceed no limit.
    try expectUnchanged(samples, [])
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func anySamplesTravelUnchanged(seed: UInt64) throws {
    var maker = SampleMaker(seed: seed)
    let samples = maker.samples(1_500)
    let tombstones = maker.samples(200).map { Tombstone(sample: $0.reference, deleted: maker.timestamp()) }
    try expectUnchanged(samples, tombstones)
  }

  @Test func eachSampleTravelsAlone() throws {
    for sample in SampleMaker.edgeCases { try expectUnchanged([sample], []) }
  }

  @Test("a large sample that says one thing over and over is not taken for an attack")
  func monotonousSample() throws {
    let text = String(repeating: "ab", count: 5 << 20)
    let sample = Sample(
      uuid: UUID(), type: SampleType("hae.workout"), start: Timestamp(seconds: 0), end: Timestamp(seconds: 1),
      source: Source(name: "app"),
      payload: .unknown(kind: "healthAutoExport", content: .object(["name": .string(text)])))
    try expectUnchanged([sample], [])
  }

  @Test func extremeTombstonesTravelUnchanged() throws {
    var maker = SampleMaker(seed: 6)
    let extremes = [Int64.min, -1, 0, 1, .max].map(Timestamp.init(microseconds:))
    let tombstones = extremes.flatMap { start in
      extremes.map { deleted in
        Tombstone(
          sample: SampleReference(type: SampleMaker.stepCount, start: start, uuid: maker.uuid()), deleted: deleted)
      }
    }
    try expectUnchanged([], tombstones)
    try expectUnchanged(maker.samples(3), tombstones)
  }

  /// Roads and tombstones are transferred in both formats.
  @Test(arguments: ChangeFeedFormat.allCases)
  func roadsAndWhatWasDeletedTravel(format: ChangeFeedFormat) throws {
    var maker = SampleMaker(seed: 8)
    var coder = ChangeCoder()
    for road in SampleRoad.allCases {
      try coder.add(maker.steps(at: 1), road: road)
      coder.add(Tombstone(of: maker.steps(at: 2), deleted: Timestamp(seconds: 9), road: road))
      coder.add(Tombstone(sample: maker.steps(at: 3).reference, deleted: Timestamp(seconds: 9)))
    }
    let batch = ChangeFeedBatch(changes: coder.changes, token: "t", more: false)
    var decoder = ChangeFeedDecoder(format)
    try ChangeFeedEncoder(format).encode(batch).withUnsafeBytes { decoder.receive($0) }
    let decoded = try #require(try decoder.next()).changes
    #expect(decoded.samples.map(\.road) == SampleRoad.allCases)
    #expect(decoded.tombstones.map(decoded.tombstone) == coder.changes.tombstones.map(coder.changes.tombstone))
    #expect(decoded.tombstones.count { $0.hint != nil } == SampleRoad.allCases.count)
  }

  /// Statements about a key are transferred in both formats.
  @Test(arguments: ChangeFeedFormat.allCases)
  func whatWasSaidOfAKeyTravels(format: ChangeFeedFormat) throws {
    var maker = SampleMaker(seed: 9)
    var coder = ChangeCoder()
    let twins = (0..<3).map { maker.steps(at: $0) }
    let statements = KeyStatement.all(of: twins, key: maker.uuid(), said: Timestamp(seconds: 9))
    for (sample, statement) in zip(twins, statements) {
      try coder.add(maker.steps(at: 7))
      try coder.add(sample, statement: statement)
      coder.add(Tombstone(sample: sample.reference, deleted: Timestamp(seconds: 9)))
      var tombstone = Tombstone(of: sample, deleted: Timestamp(seconds: 9))
      tombstone.statement = statement
      coder.add(tombstone)
    }
    var decoder = ChangeFeedDecoder(format)
    let batch = ChangeFeedBatch(changes: coder.changes, token: "t", more: false)
    try ChangeFeedEncoder(format).encode(batch).withUnsafeBytes { decoder.receive($0) }
    let decoded = try #require(try decoder.next()).changes
    let said = decoded.samples.map { $0.statement.map { decoded.statements[Int($0)] } }
    #expect(said == [nil, statements[0], nil, statements[1], nil, statements[2]])
    #expect(decoded.tombstones.map(decoded.tombstone) == coder.changes.tombstones.map(coder.changes.tombstone))
  }

  @Test func aBatchMayBeEmpty() throws {
    let batch = ChangeFeedBatch(changes: CodedChanges(), token: "t", more: true)
    #expect(try decode(ColumnBatchEncoder.encode(batch)) == [batch])
  }

  /// The values include the sign bit and whole numbers around 2^53.
  @Test(arguments: [
    -0.0, 0.1, 1e-15, 1e15, 9_007_199_254_740_991, 9_007_199_254_740_994, Double.leastNonzeroMagnitude, 72, 123_456.789,
    1.0 / 3, -6.5,
    1e300,
  ])
  func numbersKeepTheirBits(number: Double) throws {
    var sample = SampleMaker.edgeCases[0]
    sample.payload = .quantity(Quantity(number, "m"))
    let decoded = try #require(try decode(encode([sample], [])).first)
    let expanded = try ChangeExpander(decoded.changes).sample(decoded.changes.samples[0])
    guard case .quantity(let quantity) = expanded.payload else {
      Issue.record("\(expanded)")
      return
    }
    #expect(quantity.value.bitPattern == number.bitPattern)
  }

  @Test func decimalNumbersAreExact() {
    #expect(DecimalNumber(72) == DecimalNumber(digits: 72, power: 0))
    #expect(DecimalNumber(0.1) == DecimalNumber(digits: 1, power: 1))
    #expect(DecimalNumber(-123.456) == DecimalNumber(digits: -123_456, power: 3))
    #expect(DecimalNumber(-0.0) == nil)
    #expect(DecimalNumber(.nan) == nil)
    #expect(DecimalNumber(.infinity) == nil)
    #expect(DecimalNumber(1.0 / 3) == nil)
    #expect(DecimalNumber(digits: 1, power: 16).value == nil)
  }

  @Test func anyDivisionGivesTheSameBatches() throws {
    var maker = SampleMaker(seed: 7)
    let first = try encode(maker.samples(5), [])
    let second = try encode(maker.samples(3), [])
    let bytes = first + second
    let whole = try decode(bytes)
    #expect(whole.count == 2)
    for size in [1, 2, 3, 5, 64, 1000] {
      var decoder = ColumnBatchDecoder()
      var batches: [ChangeFeedBatch] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        batches += try decoder.decode(bytes[start..<min(start + size, bytes.count)])
      }
      #expect(batches == whole)
      #expect(decoder.isBetweenBatches)
    }
  }

  @Test func realisticSamplesAreSmall() throws {
    var maker = SampleMaker(seed: 8)
    let samples = (0..<5_000).map { maker.steps(at: $0) }
    let bytes = try encode(samples, [])
    #expect(bytes.count < samples.count * 20, "\(bytes.count)")
  }

  private func expectUnchanged(_ samples: [Sample], _ tombstones: [Tombstone]) throws {
    let batch = try #require(try decode(encode(samples, tombstones)).first)
    #expect(batch.token == "token")
    let expander = try ChangeExpander(batch.changes)
    let arrived = try batch.changes.samples.map { try expander.sample($0).text() }
    #expect(arrived.count == samples.count)
    for (arrived, sent) in zip(arrived, samples) where try arrived != sent.text() {
      Issue.record("\(sent) became \(String(decoding: arrived, as: UTF8.self))")
    }
    #expect(batch.changes.tombstones.map(expander.tombstone) == tombstones)
  }

  private func encode(_ samples: [Sample], _ tombstones: [Tombstone]) throws -> [UInt8] {
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    for tombstone in tombstones { coder.add(tombstone) }
    return try ColumnBatchEncoder.encode(ChangeFeedBatch(changes: coder.changes, token: "token", more: false))
  }

  private func decode(_ bytes: [UInt8]) throws -> [ChangeFeedBatch] {
    var decoder = ColumnBatchDecoder()
    return try decoder.decode(bytes)
  }
}

extension ColumnBatchDecoder {
  mutating func decode(_ bytes: some Collection<UInt8>) throws(ChangeFeedError) -> [ChangeFeedBatch] {
    let bytes = Array(bytes)
    let result = bytes.withUnsafeBytes { buffer in Result { () throws(ChangeFeedError) in try decode(buffer) } }
    return try result.get()
  }
}
