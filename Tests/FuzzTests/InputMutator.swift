import Foundation
import TestSupport

/// A generator of inputs by mutation of cases, the same inputs for the same seed.
struct InputMutator {
  /// The maximum length of an input, the same as in `scripts/fuzz`.
  static let mostBytes = 4096
  private static let tellingBytes: [UInt8] = [
    0, 1, 0x20, 0x22, 0x30, 0x39, 0x3C, 0x7B, 0x7F, 0x80, 0xBF, 0xC0, 0xED, 0xFE, 0xFF,
  ]
  private static let tellingNumbers = [
    "0", "-1", "1e308", "-0", "NaN", "2147483648", "9223372036854775807", "18446744073709551616", "0.1", "00",
  ].map { Array($0.utf8) }

  private let cases: [[UInt8]]
  private let words: [[UInt8]]
  private var random: SeededGenerator

  /// - Parameters:
  ///   - cases: The cases to mutate. If there are none, an empty input is used.
  ///   - words: Byte sequences to insert, from a libFuzzer dictionary.
  init(cases: [[UInt8]], words: [[UInt8]], seed: UInt64) {
    self.cases = cases.isEmpty ? [[]] : cases
    self.words = words + Self.tellingNumbers
    random = SeededGenerator(seed: seed)
  }

  /// Returns another input: a case with one to five changes.
  mutating func next() -> [UInt8] {
    var input = cases[Int.random(in: 0..<cases.count, using: &random)]
    for _ in 0..<Int.random(in: 1...5, using: &random) { change(&input) }
    return Array(input.prefix(Self.mostBytes))
  }

  private mutating func change(_ input: inout [UInt8]) {
    let place = Int.random(in: 0...input.count, using: &random)
    let end = min(input.count, place + Int.random(in: 1...(Bool.random(using: &random) ? 4 : 64), using: &random))
    switch Int.random(in: 0..<9, using: &random) {
    case 0 where place < input.count: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1 where place < input.count: input[place] = Self.tellingBytes.randomElement(using: &random) ?? 0
    case 2: input.removeSubrange(place..<end)
    case 3: input.insert(contentsOf: input[place..<end], at: place)
    case 4:
      let count = Int.random(in: 1...8, using: &random)
      input.insert(contentsOf: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }, at: place)
    case 5:
      // The beginning of this one, and the end of another.
      let other = cases.randomElement(using: &random) ?? []
      input = Array(input.prefix(place)) + other.suffix(Int.random(in: 0...other.count, using: &random))
    case 6 where place < end:
      let word = words.randomElement(using: &random) ?? []
      input.replaceSubrange(place..<end, with: word)
    case 7:
      input.insert(contentsOf: Array(repeating: input[place..<end], count: 30).joined(), at: place)
    default: input.insert(contentsOf: words.randomElement(using: &random) ?? [], at: place)
    }
  }
}

/// The cases and words stored for a target in `Tests/Fuzz`.
struct FuzzCorpus {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
    path: "Fuzz")

  let cases: [[UInt8]]
  let words: [[UInt8]]

  init(_ target: String) throws {
    let folder = Self.folder.appending(path: "Corpus/\(target)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    cases = try names.map { Array(try Data(contentsOf: folder.appending(path: $0))) }
    let dictionary = try? String(contentsOf: Self.folder.appending(path: "Dictionaries/\(target)"), encoding: .utf8)
    words = (dictionary ?? "").split(separator: "\n").compactMap(Self.word)
  }

  /// Parses a line of a dictionary: text in quotes, with bytes escaped as `\xAB`, `\\` and `\"`.
  private static func word(_ line: Substring) -> [UInt8]? {
    guard let first = line.firstIndex(of: "\""), let last = line.lastIndex(of: "\""), first < last else { return nil }
    var (bytes, rest) = ([UInt8](), line[line.index(after: first)..<last].utf8[...])
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      if escaped == UInt8(ascii: "x"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(escaped)
      }
    }
    return bytes
  }
}
