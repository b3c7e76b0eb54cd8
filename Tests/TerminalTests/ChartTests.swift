import Terminal
import Testing

@Suite struct ChartTests {
  private static func bars(_ values: [Double?], width: Int = 30, usesUTF8: Bool = true) -> [String] {
    var chart = BarChart()
    for (index, value) in values.enumerated() { chart.append("d\(index)", value, value.map { "\(Int($0))" } ?? "") }
    return chart.rendered(width: width, usesUTF8: usesUTF8)
  }

  @Test func barsAreAsLongAsTheirNumbers() {
    #expect(
      Self.bars([100, 50, 0, nil], width: 16) == [
        "d0 █████████ 100", "d1 ████▌      50", "d2             0", "d3",
      ])
  }

  @Test func theSmallestNumberIsSeen() {
    #expect(Self.bars([1_000_000, 1], width: 30)[1].contains("▏"))
    #expect(Self.bars([1_000_000, 1], width: 30, usesUTF8: false)[1].contains("#"))
  }

  @Test(arguments: [1, 12, 40, 80, 300])
  func everyLineFits(width: Int) {
    for usesUTF8 in [true, false] {
      let lines = Self.bars([3, 17, 1, 42, 0.4, nil], width: width, usesUTF8: usesUTF8)
      #expect(lines.allSatisfy { $0.count <= max(width, 12) })
      #expect(usesUTF8 || lines.allSatisfy { $0.utf8.count == $0.count })
    }
  }

  @Test func whatIsNoNumberHasNoBar() {
    #expect(Self.bars([-5, 10], width: 20)[0].filter { $0 != " " } == "d0-5")
    var chart = BarChart()
    chart.append("inf", .infinity, "inf")
    chart.append("nan", .nan, "nan")
    chart.append("one", 1, "1")
    #expect(chart.rendered(width: 20)[1].filter { $0 != " " } == "nannan")
  }

  @Test func bandsShareAnAxis() {
    var chart = BandChart()
    chart.append("a", .init(low: 40, dot: 60, high: 140), "60")
    chart.append("b", .init(low: 90, dot: nil, high: 90), "")
    chart.append("c", nil, "")
    #expect(
      chart.rendered(width: 16) { "\(Int($0))" } == ["  40      140", "a ──●──────── 60", "b      ─", "c"])
    let lines = chart.rendered(width: 16, usesUTF8: false) { "\(Int($0))" }
    #expect(lines.count == 4 && lines[1].contains("o") && lines[1].hasSuffix(" 60"))
    #expect(lines[1].contains("--o--------"))
  }

  @Test func textsFromOutsideAreEscaped() {
    var chart = BarChart()
    chart.append("\u{1b}[2J", 1, "\u{7}")
    #expect(!chart.rendered(width: 40).joined().contains("\u{1b}"))
  }
}
