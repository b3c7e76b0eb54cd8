import Foundation
import HealthModel
import SwiftProtobuf
import TestSupport
import Testing

@testable import PeerProtocol
import ZstandardFrames

/// Tests that any message from a peer gives an error, or changes that a store can hold and read back.
@Suite struct HostileColumnTests {
  /// A message with a sample of each form, and a tombstone.
  private static let message: Hpeer_V2_ChangeBatch = {
    var maker = SampleMaker(seed: 1)
    var coder = ChangeCoder()
    var samples = (0..<4).map { maker.steps(at: $0) }
    samples[0].metadata = ["HKTimeZone": "Europe/Berlin"]
    samples[1].device = Device(name: "Watch")
    samples[2].payload = .category(CategoryValue(value: 3))
    samples[3].payload = .unknown(kind: "thing", content: .object(["a": .integer(1)]))
    do {
      for sample in samples { try coder.add(sample) }
    } catch {
      Issue.record(error)
    }
    coder.add(Tombstone(sample: maker.steps(at: 9).reference, deleted: Timestamp(seconds: 1)))
    var message = Hpeer_V2_ChangeBatch()
    message.samples = Hpeer_V2_SampleColumns(coder.changes)
    message.tombstones = Hpeer_V2_TombstoneColumns(coder.changes)
    message.token = "t"
    return message
  }()

  @Test func theMessageItselfIsRight() throws {
    let batch = try ColumnBatchDecoder().batch(Self.message.serializedBytes())
    #expect(batch.changes.samples.count == 4)
    #expect(batch.changes.tombstones.count == 1)
  }

  typealias Change = @Sendable (inout Hpeer_V2_ChangeBatch) -> Void

  private static let changes: [Change] = [
    { $0.samples.stated = [0] }, { $0.samples.statements = Data(count: 48) },
    { ($0.samples.stated, $0.samples.statements) = ([0], Data(count: 47)) },
    { ($0.samples.stated, $0.samples.statements) = ([4], Data(count: 48)) },
    { ($0.samples.stated, $0.samples.statements) = ([1, 1], Data(count: 96)) },
    { ($0.samples.stated, $0.samples.statements) = ([1, 0], Data(count: 96)) },
    { ($0.tombstones.stated, $0.tombstones.statements) = ([.max], Data(count: 48)) },
    { $0.samples.tick = 0 }, { $0.samples.tick = 7 }, { $0.tombstones.tick = 0 },
    { $0.samples.uuid.removeLast() }, { $0.samples.form.removeLast() }, { $0.tombstones.uuid.removeLast() },
    { $0.samples.type[0] = 99 }, { $0.samples.kind[0] = 99 }, { $0.samples.source[0] = 99 },
    { $0.samples.device[0] = 99 }, { $0.samples.metadataSet[0] = 99 }, { $0.samples.unit[0] = 99 },
    { $0.samples.type[0] = .max }, { $0.samples.device[0] = .max }, { $0.tombstones.type[0] = 99 },
    { $0.samples.kind.removeLast() }, { $0.samples.source.removeLast() }, { $0.samples.start.removeLast() },
    { $0.samples.duration.removeLast() }, { $0.samples.unit.removeLast() }, { $0.samples.unit.append(0) },
    { $0.samples.metadataSet = [] }, { $0.samples.device = [] }, { $0.tombstones.start = [] },
    { $0.tombstones.deleted = [] }, { $0.samples.decimal.removeLast() }, { $0.samples.decimal.append(1) },
    { $0.samples.binary.append(1) }, { $0.samples.json = [] }, { $0.samples.json.append("1") },
    { $0.samples.created.append(1) }, { $0.samples.form[0] = 19 }, { $0.samples.form[0] = 255 },
    { $0.samples.form[0] = SampleForm.json }, { $0.samples.form[3] = SampleForm.none },
    { $0.samples.json = ["{"] }, { $0.samples.json = [""] }, { $0.samples.json = ["1 2"] },
    { $0.samples.kinds = ["quantity", "category", "workout"] },
    { $0.samples.kinds = ["quantity", "category", "quantity"] },
    { $0.samples.metadata = [""] }, { $0.samples.metadata = ["{}"] }, { $0.samples.metadata = ["[1]"] },
    { $0.samples.metadata = [#"{"a":null}"#] }, { $0.samples.metadata = [#"{"a":"b"}x"#] },
    { $0.samples.metadata = [#"{"a":01}"#] }, { $0.samples.unit[0] = 0 }, { $0.samples.unit[2] = 1 },
    {
      $0.samples.decimal[2] = 15; $0.samples.form[2] = 1
    },
    { $0.samples.type = [] }, { $0.tombstones.type = [] },
  ]

  @Test(arguments: changes.indices)
  func whatDoesNotFitTogetherIsRefused(index: Int) throws {
    var message = Self.message
    Self.changes[index](&message)
    let bytes: [UInt8] = try message.serializedBytes()
    #expect(throws: ChangeFeedError.malformedBatch(0)) { try ColumnBatchDecoder().batch(bytes) }
  }

  @Test func aRoadOfANewerVersionIsUnknown() throws {
    var message = Self.message
    (message.samples.road[0], message.tombstones.road[0]) = (200, 201)
    let changes = try ColumnBatchDecoder().batch(message.serializedBytes()).changes
    #expect(changes.samples.first?.road == .unknown && changes.tombstones.first?.road == .unknown)
  }

  /// The texts are valid, but not in hpeer's form.
  @Test(arguments: [
    (#"{ "a" : "b" }"#, #"{"a":"b"}"#), (#"{"b":1,"a":"\u0041"}"#, #"{"a":"A","b":1}"#),
    (#"{"a":{"number":1.5}}"#, #"{"a":{"number":1.5}}"#), (#"{"a":"1","a":"1"}"#, #"{"a":"1"}"#),
  ])
  func metadataAreWrittenAnew(text: String, canonical: String) throws {
    var message = Self.message
    message.samples.metadata = [text]
    #expect(try ColumnBatchDecoder().batch(message.serializedBytes()).changes.metadata == [canonical])
  }

  @Test func aFrameIsOneFrameAndNoMore() throws {
    let content: [UInt8] = try Self.message.serializedBytes()
    let frame = try Zstandard.compress(content)
    func feed(_ bytes: [UInt8]) -> [UInt8] { withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes }
    func decode(_ bytes: [UInt8], _ limits: ClientLimits = ClientLimits()) throws -> Int {
      var decoder = ColumnBatchDecoder(limits: limits)
      return try decoder.decode(feed(bytes)).count
    }
    #expect(try decode(frame) == 1)
    #expect(throws: ChangeFeedError.malformedBatch(1)) { try decode(frame + [0]) }
    #expect(throws: ChangeFeedError.malformedBatch(1)) { try decode(frame + frame) }
    #expect(throws: ChangeFeedError.malformedBatch(1)) { try decode(Array(frame.dropLast())) }
    #expect(throws: ChangeFeedError.malformedBatch(1)) { try decode([]) }
    #expect(throws: ChangeFeedError.malformedBatch(1)) { try decode(content) }
    let tooLittle: [(inout ClientLimits) -> Void] = [
      { $0.frameBytes = frame.count - 1 }, { $0.batchBytes = content.count - 1 }, { $0.batchChanges = 4 },
      { $0.dictionaryEntries = 2 }, { $0.dictionaryBytes = 40 },
      {
        $0.freelyExpandedBytes = content.count - 1
        $0.expansion = 1
      },
    ]
    for narrow in tooLittle {
      var limits = ClientLimits()
      narrow(&limits)
      #expect(throws: ChangeFeedError.batchTooLarge(1)) { try decode(frame, limits) }
    }
  }

  @Test(arguments: [25 << 20, 9 << 20])
  func aBombIsRefusedBeforeItBursts(bytes: Int) throws {
    let frame = try Zstandard.compress([UInt8](repeating: 0, count: bytes))
    var decoder = ColumnBatchDecoder()
    let bytes = withUnsafeBytes(of: UInt32(frame.count).bigEndian) { Array($0) } + frame
    #expect(throws: ChangeFeedError.batchTooLarge(1)) { try decoder.decode(bytes) }
  }

  /// A kilobyte of input has three million empty texts.
  @Test func aBombOfEmptyEntriesIsRefusedBeforeItIsDecoded() throws {
    let count = 3 << 20
    var content: [UInt8] = [0x0A] + Self.varint(2 * count)
    content.reserveCapacity(content.count + 2 * count)
    for _ in 0..<count { content.append(contentsOf: [2 << 3 | 2, 0]) }
    let frame = try Zstandard.compress(content)
    #expect(frame.count < 10_000)
    var decoder = ColumnBatchDecoder()
    let bytes = withUnsafeBytes(of: UInt32(frame.count).bigEndian) { Array($0) } + frame
    #expect(throws: ChangeFeedError.batchTooLarge(1)) { try decoder.decode(bytes) }
  }

  private enum Column {
    case texts, varints, doubles, bytes(Int)
  }

  private static func columns(of message: Int) -> [Int: Column] {
    var columns: [Int: Column] = [:]
    for field in message == 1 ? [2, 3, 4, 5, 6, 7, 21] : [2] { columns[field] = .texts }
    for field in message == 1 ? [9, 10, 11, 12, 13, 14, 15, 16, 18, 20] : [4, 5, 6] { columns[field] = .varints }
    columns[message == 1 ? 8 : 3] = .bytes(16)
    if message == 1 { (columns[17], columns[19]) = (.bytes(1), .doubles) }
    return columns
  }

  /// Returns a number of entries of a column or dictionary, in each way in which they can be encoded.
  private static func entries(_ count: Int, _ column: Column, _ field: Int) -> [[UInt8]] {
    func packed(_ size: Int) -> [UInt8] {
      varint(field << 3 | 2) + varint(count * size) + Array(repeating: 0, count: count * size)
    }
    func each(_ type: Int, _ size: Int) -> [UInt8] {
      (0..<count).flatMap { _ in varint(field << 3 | type) + Array(repeating: 0, count: size) }
    }
    return switch column {
    case .texts: [each(2, 1)]
    case .varints: [packed(1), each(0, 1)]
    case .doubles: [packed(8), each(1, 8)]
    case .bytes(let size): [packed(size)]
    }
  }

  @Test(arguments: [1, 2])
  func noFieldHasMoreEntriesThanThereMayBe(message: Int) {
    var limits = ClientLimits()
    (limits.batchChanges, limits.dictionaryEntries) = (1_000, 1_000)
    func verdict(_ contents: [[UInt8]]) -> ColumnBudget.Verdict {
      // Messages of one kind are merged.
      let whole = contents.flatMap { Self.varint(message << 3 | 2) + Self.varint($0.count) + $0 }
      return whole.withUnsafeBytes { ColumnBudget.verdict(on: $0, limits) }
    }
    for (field, column) in Self.columns(of: message) {
      for (all, one) in zip(Self.entries(1_000, column, field), Self.entries(1, column, field)) {
        #expect(verdict([all]) == .fits, "field \(field)")
        #expect(verdict([all + one]) == .tooMany, "field \(field)")
        #expect(verdict([all, one]) == .tooMany, "field \(field)")
      }
    }
  }

  @Test func whatIsNoMessageIsMalformed() {
    let many: [UInt8] = Array(repeating: 0xFF, count: 11)
    for content in [[0x0A, 1], [0x0A], [0x0B], [0x09, 0], [0x00, 0], many, [0x0A] + many] as [[UInt8]] {
      #expect(content.withUnsafeBytes { ColumnBudget.verdict(on: $0, ClientLimits()) } == .malformed, "\(content)")
    }
  }

  private static func varint(_ value: Int) -> [UInt8] {
    var (rest, bytes) = (value, [UInt8]())
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  @Test func anErrorIsThrownAsTheServerSaidIt() throws {
    var decoder = ColumnBatchDecoder()
    let bytes = try ColumnBatchEncoder.encode(error: "out of disk")
    #expect(throws: ChangeFeedError.server("out of disk")) { try decoder.decode(bytes) }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func spoiltBytesNeverMakeASampleThatCannotBeRead(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let content: [UInt8] = try Self.message.serializedBytes()
    for _ in 0..<250 {
      var spoilt = content
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        spoilt[Int.random(in: spoilt.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let batch = try? ColumnBatchDecoder().batch(spoilt) else { continue }
      let expander = try ChangeExpander(batch.changes)
      for sample in batch.changes.samples { _ = try expander.sample(sample) }
      for tombstone in batch.changes.tombstones { _ = expander.tombstone(tombstone) }
    }
  }
}
