import Foundation
import Testing

@testable import Terminal

@Suite struct QRCodeTests {
  private static let fingerprint = String("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".appending("ABCDEFGHIJKLMNOPQRST"))
  private static let pairingText = "HPEER:P1/192.168.1.20:8737/\(fingerprint)/482913"

  @Test func aPairingTextIsVersionFourAndFitsAClassicTerminal() throws {
    let code = try QRCode(QRCodeTests.pairingText)
    #expect(QRCodeTests.fingerprint.count == 52)
    #expect(code.version == 4)
    #expect(code.moduleCount == 33)
    #expect(code.columns(style: .halfBlocks) == 41)
    #expect(code.rows(style: .halfBlocks) == 21)
    #expect(code.columns(style: .painted) == 82)
  }

  @Test func versionFourHoldsExactlyNinetyAlphanumericCharacters() throws {
    #expect(try QRCode(String(repeating: "A", count: 90)).version == 4)
    #expect(try QRCode(String(repeating: "A", count: 91)).version == 5)
    #expect(try QRCode(String(repeating: "a", count: 90)).version > 4)
  }

  @Test func halfBlocksPaintBothColoursAndResetThem() throws {
    let lines = try QRCode(QRCodeTests.pairingText).rendered(style: .halfBlocks)
    #expect(lines.count == 21)
    for line in lines {
      #expect(line.hasPrefix("\u{1b}[38;5;16;48;5;231m"))
      #expect(line.hasSuffix("\u{1b}[0m"))
      #expect(glyphs(of: line).count == 41)
    }
    // The quiet zone, then the finder patterns.
    #expect(glyphs(of: lines[1]) == String(repeating: " ", count: 41))
    #expect(glyphs(of: lines[2]).hasPrefix("    █▀▀▀▀▀█ "))
    #expect(glyphs(of: lines[2]).hasSuffix(" █▀▀▀▀▀█    "))
    #expect(glyphs(of: lines[5]).hasPrefix("    ▀▀▀▀▀▀▀ "))
  }

  @Test func everythingOutsideTheCodeIsLight() throws {
    let code = try QRCode("A")
    #expect(code.isDark(row: 0, column: 0))
    #expect(!code.isDark(row: -1, column: 0))
    #expect(!code.isDark(row: 0, column: 21))
  }

  @Test func withoutUTF8EachModuleIsTwoPaintedSpaces() throws {
    let code = try QRCode("A")
    let lines = code.rendered(style: .painted)
    #expect(lines.count == code.rows(style: .painted))
    for line in lines {
      #expect(line.utf8.allSatisfy { $0 == 0x1b || (0x20..<0x7f).contains($0) })
      #expect(line.hasPrefix("\u{1b}[48;5;231m        ") && line.hasSuffix("        \u{1b}[0m"))
      #expect(line.replacing(#/\u{1b}\[[0-9;]*m/#, with: "").count == code.columns(style: .painted))
    }
    #expect(lines[4].contains("\u{1b}[48;5;16m" + String(repeating: " ", count: 14) + "\u{1b}[48;5;231m  "))
  }

  @Test func textThatCannotBeEncodedIsRefused() {
    #expect(throws: QRCodeError.empty) { try QRCode("") }
    #expect(throws: QRCodeError.tooLong(bytes: 5000)) { try QRCode(String(repeating: "x", count: 5000)) }
  }

  @Test(arguments: [pairingText, "{\"host\":\"studio\",\"code\":\"482913\"}", "Zoë's Mac ✓"])
  func aScannerReadsWhatWasDrawn(_ text: String) async throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/zbarimg") else {
      print("skipped: zbarimg (package zbar-tools) is not installed")
      return
    }
    let code = try QRCode(text)
    let halfBlocks = code.rendered(style: .halfBlocks).flatMap { line in
      [glyphs(of: line).map { "▀█".contains($0) }, glyphs(of: line).map { "▄█".contains($0) }]
    }
    let painted = code.rendered(style: .painted).map { line in
      line.split(separator: "\u{1b}[48;5;").flatMap { run in
        let spaces = run.drop { $0 != "m" }.dropFirst().prefix { $0 == " " }
        return Array(repeating: run.hasPrefix("16m"), count: spaces.count / 2)
      }
    }
    #expect(try await scan(halfBlocks) == text)
    #expect(try await scan(painted) == text)
  }

  @Test func textStandsBesideTheCodeOnAClassicTerminal() throws {
    let text = [TextLine("Code: 123 456", .bold), TextLine(""), TextLine("  " + String(repeating: "word ", count: 12))]
    let lines = try #require(
      try QRCode(QRCodeTests.pairingText).rendered(
        with: text, in: .fallback, style: .halfBlocks, textStyle: Style(isEnabled: true)))
    #expect(lines.count == 21)
    let plain = lines.map { $0.replacing(/\u{1b}\[[0-9;]*m/, with: "") }
    #expect(plain.allSatisfy { $0.count < 80 })
    #expect(plain[2].hasPrefix("    █▀▀▀▀▀█ "))
    #expect(plain[2].hasSuffix("    Code: 123 456"))
    #expect(lines[2].contains("\u{1b}[1mCode"))
    #expect(plain[4].hasSuffix("      word" + String(repeating: " word", count: 6)))
    #expect(plain[5].hasSuffix("      word" + String(repeating: " word", count: 4)))
  }

  @Test(arguments: [
    // Columns, rows, lines in all where the text is two lines.
    (66, 24, 23), (66, 23, 23), (66, 22, nil), (41, 40, 23), (40, 40, nil), (68, 21, 21), (68, 20, nil),
  ])
  func withoutRoomBesideTheTextStandsBelow(_ columns: Int, _ rows: Int, _ expected: Int?) throws {
    let lines = try QRCode(QRCodeTests.pairingText).rendered(
      with: [TextLine("Code"), TextLine("word")], in: TerminalSize(columns: columns, rows: rows), style: .halfBlocks,
      textStyle: .plain)
    #expect(lines?.count == expected)
    if expected == 23 { #expect(lines?.suffix(2) == ["Code", "word"]) }
  }

  @Test func moreTextThanCodeGoesOnBelowInItsColumn() throws {
    let text = (0..<25).map { TextLine("line \($0)") }
    let lines = try #require(
      try QRCode(QRCodeTests.pairingText).rendered(
        with: text, in: TerminalSize(columns: 80, rows: 27), style: .halfBlocks, textStyle: .plain))
    #expect(lines.count == 27)
    #expect(lines.last == String(repeating: " ", count: 43) + "line 24")
  }

  private func glyphs(of line: String) -> String {
    line.replacing("\u{1b}[38;5;16;48;5;231m", with: "").replacing("\u{1b}[0m", with: "")
  }

  /// Returns the text that zbarimg reads in an image with four pixels per module (Netpbm's plain bitmap, 1 is black).
  private func scan(_ rows: [[Bool]]) async throws -> String {
    let scale = 4
    var image = "P1\n\(rows[0].count * scale) \(rows.count * scale)\n"
    for row in rows {
      let line = row.map { String(repeating: $0 ? "1 " : "0 ", count: scale) }.joined() + "\n"
      image += String(repeating: line, count: scale)
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "qr-\(UUID()).pbm")
    try Data(image.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }

    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/zbarimg")
    process.arguments = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file.path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    let read = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    return read.trimmingCharacters(in: .newlines)
  }
}
