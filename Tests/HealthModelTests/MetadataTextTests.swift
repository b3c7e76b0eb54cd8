import Foundation
import HealthModel
import TestSupport
import Testing

@Suite struct MetadataTextTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func whatIsWrittenIsReadAsItWas(seed: UInt64) throws {
    var maker = SampleMaker(seed: seed)
    let all = (0..<500).map { _ in maker.metadata() } + SampleMaker.edgeCases.map(\.metadata)
    for metadata in all {
      let text = MetadataText.encode(metadata)
      let read = try CanonicalJSON.decode(Metadata.self, text)
      #expect(MetadataText.encode(read) == text)
      #expect(try CanonicalJSON.encode(read) == CanonicalJSON.encode(metadata))
      if MetadataText.isPlain(text) { #expect(!metadata.isEmpty) }
    }
  }

  @Test func theCommonestAreRecognised() {
    #expect(MetadataText.isPlain(MetadataText.encode(["HKMetadataKeyHeartRateMotionContext": "1"])))
    #expect(MetadataText.isPlain(MetadataText.encode(["HKTimeZone": "Europe/Berlin", "A": .integer(-12)])))
    #expect(MetadataText.isPlain(MetadataText.encode(["a": "é", "y": .bool(true), "z": .bool(false)])))
  }

  @Test(arguments: [
    "", "{}", "{", #"{"a"}"#, #"{"a":}"#, #"{"a":"b"} "#, #" {"a":"b"}"#, #"{"a":"b",}"#, #"{"b":"1","a":"2"}"#,
    #"{"a":"1","a":"2"}"#, #"{"a":01}"#, #"{"a":-0}"#, #"{"a":1.5}"#, #"{"a":1e3}"#, #"{"a":1234567890123456789}"#,
    #"{"a":null}"#, #"{"a":"\n"}"#, "{\"a\":\"\n\"}", #"{"a":["b"]}"#, #"{"a":"b"#, #"{a:"b"}"#, #"{"a":-}"#,
    #"{"é":"1"}"#, "{\"e\u{301}\":1,\"\u{E9}\":1}",
  ])
  func everythingElseIsLookedAtTwice(text: String) {
    #expect(!MetadataText.isPlain(text))
  }

  /// Two Unicode spellings of a letter are different keys.
  @Test func keysAreOrderedByBytes() {
    #expect(MetadataText.encode(["b": "1", "a": "2", "B": "3"]) == #"{"B":"3","a":"2","b":"1"}"#)
  }

  /// Control characters have a single spelling here, but short escapes in ``CanonicalJSON``.
  @Test func escapes() throws {
    let text = "a\n\u{1}\"\\\u{7F}/é"
    #expect(MetadataText.encode(["\t": .string(text)]) == #"{"\u0009":"a\u000a\u0001\"\\"# + "\u{7F}/é\"}")
    #expect(try CanonicalJSON.encode(text) == #""a\n\u0001\"\\"# + "\u{7F}/é\"")
  }
}
