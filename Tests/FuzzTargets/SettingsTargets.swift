import Foundation

@testable import Destinations

extension FuzzTarget {
  /// Fuzzes the outline of config.toml and the removal of a section from any text.
  @Sendable static func tomlOutline(_ input: [UInt8]) {
    let source = text(input)
    let lines = source.utf8.count { $0 == UInt8(ascii: "\n") } + 1
    for entry in TOMLOutline(source).entries {
      require((1...lines).contains(entry.line), "a line of the text: \(entry)")
      require((entry.line...lines).contains(entry.lastLine), "a last line of the text: \(entry)")
    }
    if let mistake = TOMLSyntax.mistake(in: source) {
      require((1...lines).contains(mistake.line), "a line: \(mistake)")
    }
    guard let cut = try? SettingsFile.removing("a", from: source, path: "config.toml"), !cut.isEmpty else {
      return
    }
    // Lines go, and none is changed or comes.
    var rest = source.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    for line in cut.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      while let next = rest.first, !next.elementsEqual(line) { rest = rest.dropFirst() }
      require(!rest.isEmpty, "each line that is left was there, in its order: \(text(Array(line)))")
      rest = rest.dropFirst()
    }
  }

  /// Fuzzes the removal of a section from a valid file that the input generates. Exactly that section must be
  /// removed.
  @Sendable static func tomlRemoval(_ input: [UInt8]) {
    var choices = TOMLChoices(input)
    var (lines, expected): ([String], [String]) = ([], [])
    let place = Int(choices.next(below: 4))
    for index in 0..<4 {
      let isCut = index == place
      let section = choices.section(named: isCut ? "cut" : "other\(index)")
      lines += section
      if !isCut { expected += section }
      let between = choices.comments()
      lines += between
      expected += between
    }
    let source = lines.joined(separator: "\n") + "\n"
    do {
      let cut = try SettingsFile.removing("cut", from: source, path: "config.toml")
      func words(_ text: String) -> [String] {
        text.split(separator: "\n").map { String($0) }.filter { line in !line.allSatisfy(\.isWhitespace) }
      }
      let (left, wanted) = (words(cut), words(expected.joined(separator: "\n")))
      require(left == wanted, "exactly the section goes, from:\n\(source)\nto:\n\(cut)")
    } catch {
      fatalError("broken promise: a section of its own can be cut: \(error):\n\(source)")
    }
  }
}

/// A generator of TOML 1.0 lines from the bytes of an input.
private struct TOMLChoices {
  private var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) { rest = input[...] }

  /// Returns a number below `count`, or 0 if no input is left.
  mutating func next(below count: UInt8) -> UInt8 { (rest.popFirst() ?? 0) % count }

  /// Returns the lines of a section, which ends with a key or consists only of its header.
  mutating func section(named name: String) -> [String] {
    var lines = [header("destination.\(name)")]
    for number in 0..<next(below: 5) {
      lines += comments()
      lines += key("key\(number)")
    }
    if next(below: 3) == 0 {
      lines.append(header("destination.\(name).headers"))
      lines += key("X-Name")
    }
    return lines
  }

  mutating func comments() -> [String] {
    (0..<next(below: 3)).map { _ in
      switch next(below: 4) {
      case 0: ""
      case 1: "# [destination.cut] is not here"
      case 2: "  # key = \"\"\""
      default: "\t"
      }
    }
  }

  private mutating func header(_ path: String) -> String {
    switch next(below: 4) {
    case 0: "[\(path)]"
    case 1: "  [ \(path.split(separator: ".").joined(separator: " . ")) ] # it begins"
    case 2: "[\(path.split(separator: ".").map { "\"\($0)\"" }.joined(separator: "."))]"
    default: "[\(path.split(separator: ".").map { "'\($0)'" }.joined(separator: "."))]\t"
    }
  }

  /// Returns the lines of a key, whose value may span several lines.
  private mutating func key(_ name: String) -> [String] {
    switch next(below: 10) {
    case 0: ["\(name) = 1"]
    case 1: ["\(name)=true # [destination.cut]"]
    case 2: ["\(name) = [", "  \"[destination.cut]\", # one ]", "", "  'two',", "]"]
    case 3: ["\(name) = \"\"\"", "[destination.cut]", "", "# no comment \\\"\"\" still in it", "\"\"\""]
    case 4: ["\(name) = '''", "[destination.cut]\\", "'' key = 1", "'''"]
    case 5: ["\(name) = { a = \"}\", b = '[' }"]
    case 6: ["\"\(name) # [x]\" = \"\\\"[destination.cut]\\\\\""]
    case 7: ["\(name) = '\\' # \""]
    case 8: ["\(name) = \"\"\"a\\", "   b\"\"\"\""]
    default: ["\(name) = 'it''s' # '".replacingOccurrences(of: "''", with: "")]
    }
  }
}
