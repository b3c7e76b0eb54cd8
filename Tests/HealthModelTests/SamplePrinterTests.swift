import Foundation
import HealthModel
import TestSupport
import Testing

/// Tests that coded samples are printed like samples written by an encoder.
@Suite struct SamplePrinterTests {
  private func expectSame(_ samples: [Sample]) throws {
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    let changes = coder.changes
    let printer = try SamplePrinter(changes)
    for row in changes.samples {
      var bytes: [UInt8] = []
      try printer.append(row, to: &bytes)
      let expected = Array(try CanonicalJSON.encode(try changes.sample(row)).utf8)
      if bytes != expected {
        Issue.record("\(String(decoding: bytes, as: UTF8.self)) for \(String(decoding: expected, as: UTF8.self))")
      }
    }
  }

  @Test func everyOddityIsPrintedAsItIsEncoded() throws {
    try expectSame(SampleMaker.edgeCases)
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func anySampleIsPrintedAsItIsEncoded(seed: UInt64) throws {
    var maker = SampleMaker(seed: seed)
    try expectSame(maker.samples(300))
  }

  @Test(arguments: [0, -0.0, 1, -1, 999_999_999_999_999, 1e15, -1e15, 9_007_199_254_740_994, 1e16, 0.5, 1e-7])
  func anyNumberIsPrintedAsItIsEncoded(number: Double) throws {
    var maker = SampleMaker(seed: 1)
    var sample = maker.steps(at: 0)
    sample.payload = .quantity(Quantity(number, "count"))
    try expectSame([sample])
  }

  /// Rows that no coder produces, but that a damaged or foreign store may contain.
  @Test func oddRowsSayWhatTheirSamplesSay() throws {
    var maker = SampleMaker(seed: 2)
    var coder = ChangeCoder()
    try coder.add(maker.steps(at: 0))
    var changes = coder.changes
    changes.kinds = ["quantity", "category"]
    changes.payloads = [#"{"value":5}"#]
    // Letters that combine make one key of two; a space is not canonical.
    changes.metadata = [
      "{}", #"{ "a":1}"#, "{\"e\u{301}\":1,\"\u{E9}\":1}", #"{"b":1,"a":2}"#, #"{"n":{"number":1.0}}"#,
      #"{"t":"a\u000ab"}"#,
      #"{"a":"é"}"#,
    ]
    var row = changes.samples[0]
    row.unit = nil
    changes.samples = [row]
    for index in changes.metadata.indices {
      row.metadata = UInt32(index)
      changes.samples.append(row)
    }
    row.payload = 0
    changes.samples.append(row)
    row.kind = 1
    changes.samples.append(row)
    let printer = try SamplePrinter(changes)
    for row in changes.samples {
      var bytes: [UInt8] = []
      try printer.append(row, to: &bytes)
      #expect(String(decoding: bytes, as: UTF8.self) == (try CanonicalJSON.encode(try changes.sample(row))))
    }
    row.payload = nil
    row.number = 0.5
    var bytes: [UInt8] = []
    #expect(throws: DecodingError.self) { try printer.append(row, to: &bytes) }
    changes.metadata = ["{"]
    #expect(throws: DecodingError.self) { _ = try SamplePrinter(changes) }
  }

  @Test func aUUIDIsPrintedAsItsText() {
    var maker = SampleMaker(seed: 3)
    for _ in 0..<100 {
      let uuid = maker.uuid()
      var bytes: [UInt8] = []
      uuid.append(to: &bytes)
      #expect(String(decoding: bytes, as: UTF8.self) == uuid.uuidString)
    }
  }
}
