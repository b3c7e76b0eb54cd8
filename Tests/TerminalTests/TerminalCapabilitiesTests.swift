import Testing

@testable import Terminal

@Suite struct TerminalCapabilitiesTests {
  private func capabilities(
    _ environment: [String: String] = [:], terminals: Set<StandardStream> = [.input, .output, .error],
    window: TerminalSize? = nil
  ) -> TerminalCapabilities {
    TerminalCapabilities(
      environment: ["TERM": "xterm-256color"].merging(environment) { $1 },
      isTerminal: terminals.contains, windowSize: { window })
  }

  @Test func aTerminalIsColoured() {
    #expect(capabilities().allowsColor(on: .output))
  }

  @Test func aPipeIsNotColouredThoughTheOtherStreamIsATerminal() {
    let capabilities = capabilities(terminals: [.error])
    #expect(!capabilities.allowsColor(on: .output))
    #expect(capabilities.allowsColor(on: .error))
  }

  @Test func noColorIsObeyedUnlessEmpty() {
    #expect(!capabilities(["NO_COLOR": "0"]).allowsColor(on: .output))
    #expect(capabilities(["NO_COLOR": ""]).allowsColor(on: .output))
    #expect(capabilities(["NO_COLOR": "1"]).allowsEscapeSequences(on: .output))
  }

  @Test(arguments: ["dumb", ""])
  func aTerminalWithoutEscapeSequencesGetsNone(_ term: String) {
    #expect(!capabilities(["TERM": term]).allowsEscapeSequences(on: .error))
    #expect(!capabilities(["TERM": term]).allowsColor(on: .error))
  }

  @Test func theFirstLocaleVariableThatIsSetDecides() {
    #expect(capabilities(["LANG": "de_DE.UTF-8"]).usesUTF8)
    #expect(capabilities(["LANG": "C.utf8"]).usesUTF8)
    #expect(!capabilities(["LANG": "de_DE.UTF-8", "LC_ALL": "C"]).usesUTF8)
    #expect(capabilities(["LANG": "C", "LC_CTYPE": "en_US.UTF-8", "LC_ALL": ""]).usesUTF8)
    #expect(!capabilities().usesUTF8)
  }

  @Test func theWindowKnowsItsSizeBest() {
    let window = TerminalSize(columns: 132, rows: 43)
    #expect(capabilities(["COLUMNS": "90"], window: window).size == window)
  }

  @Test func withoutAWindowTheEnvironmentDecides() {
    #expect(capabilities(["COLUMNS": "90", "LINES": "30"]).size == TerminalSize(columns: 90, rows: 30))
    #expect(capabilities(["COLUMNS": "0", "LINES": "many"]).size == .fallback)
    #expect(capabilities(["COLUMNS": "-5", "LINES": "99999999999999999999"]).size == .fallback)
  }

  @Test func qrCodesArePaintedUnderNoColorButNotOnADumbTerminal() {
    let locale = ["LANG": "C.UTF-8"]
    #expect(QRCode.RenderingStyle(for: .error, of: capabilities(locale)) == .halfBlocks)
    #expect(
      QRCode.RenderingStyle(for: .error, of: capabilities(locale.merging(["NO_COLOR": "1"]) { $1 })) == .halfBlocks)
    #expect(QRCode.RenderingStyle(for: .error, of: capabilities(locale.merging(["TERM": "dumb"]) { $1 })) == nil)
    #expect(QRCode.RenderingStyle(for: .error, of: capabilities()) == .painted)
  }
}

@Suite struct StyleTests {
  @Test func eachAttributeEndsItself() {
    let style = Style(isEnabled: true)
    #expect(style.bold("x") == "\u{1b}[1mx\u{1b}[22m")
    #expect(style.dim("x") == "\u{1b}[2mx\u{1b}[22m")
    #expect(style.red("x") == "\u{1b}[31mx\u{1b}[39m")
    #expect(style.green("x") == "\u{1b}[32mx\u{1b}[39m")
    #expect(style.yellow("x") == "\u{1b}[33mx\u{1b}[39m")
  }

  @Test func anInnerColourDoesNotEndTheOuterOne() {
    let style = Style(isEnabled: true)
    #expect(
      style.red("a" + style.green("b") + "c")
        == "\u{1b}[31ma\u{1b}[32mb\u{1b}[39m\u{1b}[31mc\u{1b}[39m")
  }

  @Test func plainLeavesTextAlone() {
    for attribute in Style.Attribute.allCases {
      #expect(Style.plain.applying(attribute, to: "text") == "text")
    }
    #expect(Style(isEnabled: true).bold("").isEmpty)
  }
}
