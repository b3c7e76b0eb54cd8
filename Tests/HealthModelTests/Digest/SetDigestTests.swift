import HealthModel
import Testing

@Suite struct SetDigestTests {
  @Test func theOrderDoesNotMatterAndRemovalUndoesInsertion() {
    let hashes: [UInt128] = [.max, 1, UInt128(1) << 127, UInt128(1) << 64, .max - 5, 0]
    var (forward, backward) = (SetDigest(), SetDigest())
    for hash in hashes { forward.insert(hash) }
    for hash in hashes.reversed() { backward.insert(hash) }
    #expect(forward == backward)
    #expect(forward.count == 6)
    var halves = SetDigest(count: 2, sum: .max)
    halves += SetDigest(count: 1, sum: 2)
    #expect(halves == SetDigest(count: 3, sum: 1))
    for hash in hashes { forward.remove(hash) }
    #expect(forward.isEmpty)
  }

  @Test func aSumIsThirtyTwoDigits() {
    #expect(SetDigest(sum: 0).hex == String(repeating: "0", count: 32))
    #expect(SetDigest(sum: .max).hex == String(repeating: "f", count: 32))
    #expect(SetDigest(sum: 0xAB).hex.hasSuffix("00ab"))
    for sum in [0, 1, .max, UInt128(1) << 64, 0xDEAD_BEEF] as [UInt128] {
      #expect(SetDigest(count: 3, hex: SetDigest(sum: sum).hex) == SetDigest(count: 3, sum: sum))
    }
  }

  @Test(
    arguments: [
      "", "0", String(repeating: "0", count: 31), String(repeating: "0", count: 33), String(repeating: "F", count: 32),
      "+" + String(repeating: "0", count: 31), "-" + String(repeating: "0", count: 31),
      String(repeating: "g", count: 32), String(repeating: "0", count: 31) + " ",
      String(repeating: "０", count: 32),
    ])
  func otherTextsAreNoSums(hex: String) {
    #expect(SetDigest(count: 1, hex: hex) == nil)
  }

  @Test func countsAreNotNegative() {
    #expect(SetDigest(count: -1, hex: String(repeating: "0", count: 32)) == nil)
  }
}
