import Testing

@testable import Terminal

@Suite struct TableTests {
  private func table() -> Table {
    var table = Table(columns: [.init("NAME"), .init("SAMPLES", .trailing), .init("STATE")])
    table.append([.init("studio"), .init("1,204,331"), .init("paired", .green)])
    table.append([.init("書斎"), .init("7"), .init("")])
    table.append([.init("e\u{301}te\u{301} 👩‍👩‍👧‍👦")])
    return table
  }

  @Test func columnsAlignByTerminalColumns() {
    #expect(
      table().rendered() == [
        "NAME      SAMPLES  STATE",
        "studio  1,204,331  paired",
        "書斎            7",
        "e\u{301}te\u{301} 👩‍👩‍👧‍👦",
      ])
  }

  @Test func attributesDoNotCountAsColumns() {
    let lines = table().rendered(style: Style(isEnabled: true))
    #expect(lines[0] == "\u{1b}[1mNAME\u{1b}[22m      \u{1b}[1mSAMPLES\u{1b}[22m  \u{1b}[1mSTATE\u{1b}[22m")
    #expect(lines[1] == "studio  1,204,331  \u{1b}[32mpaired\u{1b}[39m")
  }

  @Test func theWidestTextIsCutToFitTheWindow() {
    var table = Table(columns: [.init("TYPE"), .init("COUNT", .trailing)])
    table.append([.init("HKQuantityTypeIdentifierStepCount"), .init("12,345")])
    #expect(table.rendered(width: 24) == ["TYPE               COUNT", "HKQuantityTypeI…  12,345"])
  }

  @Test func aNumberIsNeverCut() {
    var table = Table(columns: [.init("TYPE"), .init("COUNT", .trailing)])
    table.append([.init("HKQuantityTypeIdentifierStepCount"), .init("12,345")])
    #expect(table.rendered(width: 5)[1] == "HKQuant…  12,345")
  }

  @Test func inAWindowThatIsFarTooNarrowARowIsABlock() {
    var table = Table(columns: [
      .init("NAME"), .init("ID", isWhole: true), .init("SAMPLES", .trailing), .init("LAST SEEN", isWhole: true),
    ])
    table.append([
      .init("a machine with a long name"), .init("883cd7eb"), .init("1,204,331"), .init("2026-11-22T11:15:28+01:00"),
    ])
    table.append([.init("attic"), .init("0f0f0f0f"), .init(""), .init("never")])
    // A name may be cut, the rest not.
    #expect(table.rendered(width: 56)[1] == "a machi…  883cd7eb  1,204,331  2026-11-22T11:15:28+01:00")
    #expect(
      table.rendered(width: 40) == [
        "NAME       a machine with a long name", "ID         883cd7eb", "SAMPLES    1,204,331",
        "LAST SEEN  2026-11-22T11:15:28+01:00", "", "NAME       attic", "ID         0f0f0f0f", "LAST SEEN  never",
      ])
    #expect(table.rendered(width: 40).allSatisfy { $0.count <= 40 })
    #expect(table.rendered(width: 20)[0] == "NAME       a machin…")
  }

  @Test func whatIsNeverCutGoesOnBelowItselfInABlock() {
    var table = Table(columns: [.init("SETTING"), .init("TAKES"), .init("WHAT IT IS", isWhole: true)])
    table.append([.init("path"), .init("a path"), .init("The folder, which must be there already.")])
    #expect(
      table.rendered(width: 32) == [
        "SETTING     path", "TAKES       a path", "WHAT IT IS  The folder, which", "            must be there",
        "            already.",
      ])
    let whole = table.rendered(width: 60)
    #expect(whole.count == 2 && whole[1].hasSuffix("The folder, which must be there already."))
  }

  @Test func aPipeSeesTextsInFull() {
    var table = Table(columns: [.init("NAME")])
    table.append([.init(String(repeating: "x", count: 150))])
    #expect(table.rendered()[1].count == 150)
  }

  @Test func hostileNamesCannotBreakOut() {
    var table = Table(columns: [.init("NAME"), .init("HOST")])
    table.append([.init("a\u{1b}[31m\nb"), .init("h")])
    #expect(table.rendered() == ["NAME               HOST", "a\\u{1b}[31m\\u{a}b  h"])
  }

  @Test func tooManyCellsAreNotShown() {
    var table = Table(columns: [.init("A")])
    #expect(table.isEmpty)
    table.append([.init("1"), .init("2")])
    #expect(table.rendered() == ["A", "1"])
  }

  @Test(arguments: [
    ("abc", 3), ("書斎", 4), ("e\u{301}", 1), ("👍", 2), ("👍🏽", 2), ("🇩🇪", 2), ("❤\u{fe0f}", 2), ("한글", 4), ("ﾊﾝ", 2),
    ("…", 1),
  ])
  func displayWidths(_ text: String, _ width: Int) {
    #expect(DisplayWidth.of(text) == width)
  }

  @Test func aWideCharacterIsNotCutInHalf() {
    #expect(DisplayWidth.truncated("書斎の", to: 4) == "書…")
    #expect(DisplayWidth.truncated("書斎の", to: 5) == "書斎…")
    #expect(DisplayWidth.truncated("書斎", to: 4) == "書斎")
    #expect(DisplayWidth.truncated("書斎", to: 0).isEmpty)
  }
}
