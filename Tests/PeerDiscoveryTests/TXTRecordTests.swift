import Testing

@testable import PeerDiscovery

@Suite("TXT records")
struct TXTRecordTests {
  private func parse(_ strings: String...) -> [String: String] {
    TXTRecord.parse(strings.map { Array($0.utf8) })
  }

  // MARK: Reading

  @Test("A string is split at its first equals sign")
  func splits() {
    #expect(parse("v=1", "path=a=b") == ["v": "1", "path": "a=b"])
  }

  @Test("A key without a value, and one with an empty value, read as empty")
  func emptyValues() {
    #expect(parse("flag", "empty=") == ["flag": "", "empty": ""])
  }

  @Test("Of equal keys the first wins, whatever their case")
  func firstWins() {
    #expect(parse("Id=first", "ID=second", "id=third") == ["id": "first"])
  }

  @Test("A later key does not replace an earlier one with an unusable value")
  func firstWinsEvenIfUnusable() {
    let strings: [[UInt8]] = [Array("id=".utf8) + [0xFF], Array("id=forged".utf8)]
    #expect(TXTRecord.parse(strings) == [:])
  }

  @Test("Strings without a usable key are skipped", arguments: ["", "=value", "\u{1}key=1", "kéy=1", "tab\t=1"])
  func unusableKeys(string: String) {
    #expect(parse(string, "v=1") == ["v": "1"])
  }

  @Test("Values that are not UTF-8 are left out")
  func invalidUTF8() {
    let strings: [[UInt8]] = [Array("bin=".utf8) + [0xC3, 0x28], Array("v=ü".utf8)]
    #expect(TXTRecord.parse(strings) == ["v": "ü"])
  }

  @Test("Reading stops at the maximum of keys")
  func maximumKeys() {
    let entries = TXTRecord.parse((0..<1000).map { Array("k\($0)".utf8) })
    #expect(entries.count == TXTRecord.maximumKeys)
    #expect(entries["k0"] == "")
  }

  @Test("Reading stops at the maximum of bytes, length bytes included")
  func maximumBytes() {
    let entries = TXTRecord.parse((0..<10).map { Array("k\($0)=".utf8) + [UInt8](repeating: 0x61, count: 252) })
    #expect(entries.keys.sorted() == ["k0", "k1", "k2", "k3", "k4"])
  }

  // MARK: Writing

  @Test("Entries keep their order")
  func writes() throws {
    let strings = try TXTRecord.strings(for: [("v", "1"), ("id", "a=b"), ("pair", "")])
    #expect(strings == ["v=1", "id=a=b", "pair="].map { Array($0.utf8) })
  }

  @Test("What is written is what is read")
  func roundTrip() throws {
    let strings = try TXTRecord.strings(for: [("v", "1"), ("name", "Küche")])
    #expect(TXTRecord.parse(strings) == ["v": "1", "name": "Küche"])
  }

  @Test("A key that cannot be sent is refused", arguments: ["", "a=b", "ü", "new\nline"])
  func refusesKey(key: String) {
    #expect(throws: DiscoveryError.invalidTXTEntry(key: key)) { try TXTRecord.strings(for: [(key, "1")]) }
  }

  @Test("An entry of 255 bytes is sent, one of 256 is refused")
  func entryLength() throws {
    #expect(try TXTRecord.strings(for: [("k", String(repeating: "x", count: 253))]).first?.count == 255)
    #expect(throws: DiscoveryError.invalidTXTEntry(key: "k")) {
      try TXTRecord.strings(for: [("k", String(repeating: "x", count: 254))])
    }
  }

  @Test("A record that does not fit one packet is refused")
  func recordLength() {
    let entries = (0..<6).map { (key: "k\($0)", value: String(repeating: "x", count: 252)) }
    #expect(throws: DiscoveryError.txtRecordTooLong(bytes: 1536, maximum: 1300)) {
      try TXTRecord.strings(for: entries)
    }
  }
}
