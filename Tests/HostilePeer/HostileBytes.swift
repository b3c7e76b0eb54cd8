/// Corruptions of the bytes of a response body.
enum HostileBytes {
  /// Returns the bytes unchanged in most cases, or with a few corruptions.
  static func changed(_ bytes: [UInt8], _ choices: inout Choices, isJSON: Bool) -> [UInt8] {
    guard choices.oneIn(3) else { return bytes }
    var bytes = bytes
    for _ in 0...choices.below(4) {
      if bytes.isEmpty { return bytes }
      let index = choices.below(min(65_536, bytes.count))
      switch choices.below(isJSON ? 9 : 5) {
      case 0: bytes[index] = choices.byte()
      case 1: bytes[index] ^= 1 << (choices.byte() & 7)
      case 2: bytes.removeSubrange(index..<min(bytes.count, index + choices.below(64)))
      case 3: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + choices.below(4_096))], at: index)
      case 4: bytes = Array(bytes.prefix(index))
      case 5, 6: replaceNumber(in: &bytes, from: index, with: choices.extreme())
      case 7:
        let (open, close) = choices.pick([("[", "]"), (#"{"a":"#, "}")])
        let depth = choices.pick([1, 100, 199, 600, 5_000])
        let nest = String(repeating: open, count: depth) + "0" + String(repeating: close, count: depth)
        replaceNumber(in: &bytes, from: index, with: nest)
      default:
        let filler = choices.pick(["[0", ",0", #"{"":0}"#, #""","#, " ", "\n", "\\u0000", "\u{301}"])
        bytes.insert(contentsOf: String(repeating: filler, count: choices.below(20_000)).utf8, at: index)
      }
    }
    return bytes
  }

  /// Replaces the first run of digits at or after `index`.
  private static func replaceNumber(in bytes: inout [UInt8], from index: Int, with text: String) {
    let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
    guard let start = bytes[index...].firstIndex(where: isDigit) else { return }
    let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
    bytes.replaceSubrange(start..<end, with: text.utf8)
  }
}
