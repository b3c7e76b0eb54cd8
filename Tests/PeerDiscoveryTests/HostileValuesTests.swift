import Testing

@testable import PeerDiscovery

@Suite("Whatever the network says")
struct HostileValuesTests {
  private static let seeds: ClosedRange<UInt64> = 1...20

  private static let spice: [[UInt8]] = [
    [0], Array("=".utf8), [0xC3], [0xE2, 0x80, 0xAE], [0xF0, 0x9F, 0x91], [0x1B, 0x5B], [0xED, 0xA0, 0x80],
    [0xC2, 0x9B],
    Array("id=".utf8), Array("e\u{301}".utf8),
  ]

  /// Returns bytes that hit limits more often than random bytes: zeros, equals signs, invalid and long UTF-8, control
  /// characters.
  private static func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      if Bool.random(using: &random) {
        bytes += spice.randomElement(using: &random) ?? []
      } else {
        bytes.append(.random(in: 0...255, using: &random))
      }
    }
    return Array(bytes.prefix(count))
  }

  @Test("a TXT record is read within its limits", arguments: seeds)
  func records(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let strings = (0..<Int.random(in: 0..<120, using: &random)).map { _ in
        Self.bytes(.random(in: 0...255, using: &random), &random)
      }
      let entries = TXTRecord.parse(strings)
      #expect(entries.count <= TXTRecord.maximumKeys, "seed \(seed)")
      for (key, value) in entries {
        #expect(!key.isEmpty && key == key.lowercased(), "seed \(seed)")
        #expect(key.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }, "seed \(seed)")
        #expect(value.utf8.count <= 255, "seed \(seed)")
        // It was in there, as it stands, after its key.
        #expect(
          strings.contains { $0.count >= key.utf8.count && $0.suffix(value.utf8.count) == Array(value.utf8)[...] })
      }
      #expect(entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } <= TXTRecord.maximumBytes)
    }
  }

  @Test("a name is repaired to valid, bounded text, and what is repaired can be published", arguments: seeds)
  func names(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let bytes = Self.bytes(.random(in: 0...300, using: &random), &random)
      let name = InstanceName.repaired(bytes)
      // A broken byte becomes the three of U+FFFD.
      #expect(name.utf8.count <= 3 * InstanceName.maximumBytes, "seed \(seed)")
      let published = InstanceName.publishable(name)
      #expect((1...InstanceName.maximumBytes).contains(published.utf8.count), "seed \(seed)")
      #expect(published.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "seed \(seed)")
      #expect(InstanceName.publishable(published) == published, "seed \(seed)")
    }
  }
}
