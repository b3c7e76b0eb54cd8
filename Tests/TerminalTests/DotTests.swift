import Testing

@testable import Terminal

/// Tests of dots, paths and intervals on a canvas.
@Suite struct DotTests {
  @Test func aCellHasEightDots() {
    var canvas = DotCanvas(columns: 2, rows: 1)
    #expect(canvas.width == 4 && canvas.height == 4)
    canvas.dot(0, 0)
    canvas.dot(1, 3)
    canvas.dot(-1, 0)
    canvas.dot(0, 99)
    #expect(canvas.lines() == ["⢁"])
    for x in 0..<4 { for y in 0..<4 { canvas.dot(x, y) } }
    #expect(canvas.lines() == ["⣿⣿"])
    var plain = DotCanvas(columns: 3, rows: 2, usesUTF8: false)
    plain.line(from: (0, 0), to: (2, 1))
    #expect(plain.lines().joined().filter { $0 == "*" }.count == 3)
    #expect(DotCanvas(columns: 0, rows: -4).lines() == [""])
  }

  @Test func linesAreHeldToTheCanvas() {
    var canvas = DotCanvas(columns: 4, rows: 4, usesUTF8: false)
    canvas.line(from: (-1_000_000, -1_000_000), to: (1_000_000, 1_000_000))
    #expect(canvas.lines() == ["*", " *", "  *", "   *"])
  }

  @Test(arguments: [true, false]) func aPlotFitsAndSaysItsEnds(usesUTF8: Bool) {
    let points = (0..<500).map { DotPlot.Point(x: Double($0), y: Double($0 % 7) + 60) }
    let lines = DotPlot(points).rendered(width: 40, height: 6, usesUTF8: usesUTF8, from: "A", to: "B") {
      "\(Int($0)) kg"
    }
    #expect(lines.count == 7 && lines.allSatisfy { DisplayWidth.of($0) <= 40 })
    #expect(lines[0].hasPrefix("66 kg ") && lines[5].hasPrefix("60 kg ") && lines[6].hasSuffix("B"))
    #expect(usesUTF8 || lines.joined().allSatisfy(\.isASCII))
    // Ends that are long go below the numbers.
    let times = ("2019-01-01 00:00", "2019-01-22 18:00")
    let narrow = DotPlot(points).rendered(width: 40, height: 6, usesUTF8: usesUTF8, from: times.0, to: times.1) {
      "\(Int($0)).25 count/min"
    }
    #expect(narrow.allSatisfy { DisplayWidth.of($0) <= 40 } && narrow[6].hasSuffix(times.1))
    #expect(DotPlot([]).rendered(width: 40, height: 6, from: "", to: "") { "\($0)" } == [])
    let odd = [DotPlot.Point(x: .nan, y: 1), .init(x: 1, y: .infinity), .init(x: 1, y: 5)]
    #expect(DotPlot(odd).rendered(width: 20, height: 2, from: "", to: "") { "\(Int($0))" }.count == 3)
  }

  @Test func aWayHasItsShape() {
    // A square of a thousandth of a degree at the equator is about as wide as high.
    let corners = [(0.0, 0.0), (0.001, 0), (0.001, 0.001), (0, 0.001), (0, 0)]
    let plot = TrackPlot(corners.map { TrackPlot.Place(latitude: $0.0, longitude: $0.1) })
    let lines = plot.rendered(width: 60, height: 10, usesUTF8: true)
    #expect(lines.count <= 10 && (lines.map(DisplayWidth.of).max() ?? 0) <= 21)
    #expect((lines.map(DisplayWidth.of).max() ?? 0) >= 19)
    let ascii = plot.rendered(width: 60, height: 10, usesUTF8: false)
    #expect(ascii.allSatisfy { $0.allSatisfy(\.isASCII) } && (ascii.map(\.count).max() ?? 0) >= 18)
    // Over the date line it is as short.
    let line = TrackPlot([.init(latitude: 0, longitude: 179.999), .init(latitude: 0.002, longitude: -179.999)])
    #expect(line.rendered(width: 30, height: 5).count == 5)
    #expect(TrackPlot([]).rendered(width: 30, height: 5).isEmpty)
    #expect(TrackPlot([.init(latitude: 99, longitude: .nan)]).rendered(width: 30, height: 5).isEmpty)
    let still = Array(repeating: TrackPlot.Place(latitude: 52, longitude: 13), count: 3)
    #expect(TrackPlot(still).rendered(width: 30, height: 5).count >= 1)
  }

  @Test func nightsFloat() {
    var chart = SpanChart()
    chart.append("a", [.init(-2, 6, 3), .init(-1, 2, 1), .init(2, 3, 0)], "4:00")
    chart.append("b", [], "")
    chart.append("c", [.init(.nan, 1, 0), .init(4, 2, 0)], "")
    let lines = chart.rendered(width: 23) { "\(Int($0))h" }
    #expect(lines == ["  -2h" + String(repeating: " ", count: 11) + "6h", "a ··▓▓▓▓▓▓██······ 4:00", "b", "c"])
    #expect(chart.rendered(width: 23, usesUTF8: false) { "\(Int($0))h" }[1] == "a ..======##...... 4:00")
  }

  @Test func barsHaveAnAxisAndMarks() {
    var chart = BarChart()
    chart.append("a", 50, "50", mark: 100)
    chart.append("b", nil, "", mark: 0)
    let lines = chart.rendered(width: 15, usesUTF8: false) { "\(Int($0))" }
    #expect(lines[0].hasPrefix("  0") && lines[0].hasSuffix("100"))
    #expect(lines[1].hasPrefix("a #####") && lines[1].hasSuffix("| 50"))
    #expect(lines[2].hasPrefix("b |"))
    var band = BandChart()
    band.append("a", .init(low: 0, dot: 5, high: 10), "5", mark: 20)
    #expect(band.rendered(width: 15, usesUTF8: false) { "\(Int($0))" }[1].contains("|"))
  }
}
