import Terminal
import Testing

/// Tests of text in a window that is narrower than its lines.
@Suite struct WrappedTextTests {
  @Test func aLineThatFitsIsLeftAsItIs() {
    for text in ["", "  two  spaces ", "exactly twenty chars"] {
      #expect(WrappedText.lines(of: text, columns: 20) == [text])
    }
    #expect(WrappedText.lines(of: "one\n\ntwo", columns: 20) == ["one", "", "two"])
  }

  @Test func aLongOneIsBrokenBetweenWords() {
    let lines = WrappedText.lines(of: "Nothing is lost: run the same command again.", columns: 20)
    #expect(lines == ["Nothing is lost: run", "the same command", "again."])
  }

  @Test func whatContinuesItIsIndentedAsItIs() {
    #expect(WrappedText.lines(of: "  one two three", columns: 9) == ["  one two", "  three"])
    #expect(WrappedText.lines(of: "  → one two three", columns: 11) == ["  → one two", "    three"])
    #expect(WrappedText.lines(of: "A pull is over", columns: 9) == ["A pull is", "over"])
    #expect(WrappedText.lines(of: "      one exactly", columns: 10) == ["      one", "   exactly"])
  }

  @Test func anAddressStaysWhole() {
    let address = "http://192.0.2.7:41234/AbCdEfGhIjKlMnOpQrStUv"
    #expect(WrappedText.lines(of: "Open \(address) now", columns: 20) == ["Open", address, "now"])
  }

  @Test func aCommandStaysWholeWhereItFits() {
    let lines = WrappedText.lines(of: "It is not there: run `hpeer import`, then again.", columns: 24)
    #expect(lines == ["It is not there: run", "`hpeer import`, then", "again."])
    #expect(
      WrappedText.lines(of: "run `hpeer import --rescan x.zip` again", columns: 16)
        == ["run `hpeer", "import --rescan", "x.zip` again"])
  }

  @Test func coloursTakeNoRoom() {
    let red = Style(isEnabled: true).red("hpeer:")
    #expect(WrappedText.lines(of: "\(red) one two", columns: 14) == ["\(red) one two"])
    #expect(WrappedText.lines(of: "\(red) one two", columns: 10) == ["\(red) one", "two"])
  }

  @Test func aPromptKeepsItsSpace() {
    let question = "Is it the same person? [y/N] "
    #expect(WrappedText.lines(of: question, columns: 22) == ["Is it the same person?", "[y/N] "])
  }

  @Test func wideCharactersCountTwice() {
    #expect(WrappedText.lines(of: "心拍 心拍 心拍", columns: 9) == ["心拍 心拍", "心拍"])
  }
}
