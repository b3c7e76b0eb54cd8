import Foundation
import Terminal
import TestSupport
import Testing

@testable import QRPictures

private enum Installed {
  static let libraries = ZBar() != nil && LibPNG() != nil
  static let cjpeg = "/usr/bin/cjpeg"
  static let hasJPEG = FileManager.default.isExecutableFile(atPath: cjpeg)
}

/// Tests of reading pictures in this process. `PairByPictureTests` do the same in a confined process.
@Suite("QR codes in pictures", .enabled(if: Installed.libraries, "libzbar0 and libpng16-16 are not installed"))
struct QRPictureTests {
  private static let text =
    #"{"version":"1","host":"192.168.1.42","port":53271,"code":"AbCdEf23","expiresAt":"2026-01-07T12:05:00Z","#
    + #""certificateFingerprint":"\#(String(repeating: "9fab", count: 16))"}"#

  private static func code(_ text: String = text, scale: Int = 5) throws -> GreyImage {
    let code = try QRCode(text)
    return GreyImage(modules: code.moduleCount, scale: scale, isDark: code.isDark)
  }

  private static func read(_ bytes: [UInt8]) throws(QRPictureError) -> [String] {
    let header = try PictureHeader(bytes)
    let libraries = try PictureLibraries(for: header.format)
    return try libraries.codes(in: bytes, header).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a screenshot of any size", arguments: [2, 3, 5, 12, 24])
  func screenshot(_ scale: Int) throws {
    #expect(try Self.read(Self.code(scale: scale).png) == [Self.text])
  }

  @Test("a tilted code", arguments: [3.0, 15, 30, 45, 60, 90, 180, 251])
  func tilted(_ degrees: Double) throws {
    #expect(try Self.read(Self.code().turned(degrees: degrees).png) == [Self.text])
  }

  @Test("a dark, noisy code, and one in white on black")
  func dark() throws {
    let dark = try Self.code().turned(degrees: 20, grey: 200).map { 6 + $0 / 20 }.noisy(4, seed: 1)
    #expect(try Self.read(dark.png) == [Self.text])
    #expect(try Self.read(Self.code().map { 255 - $0 }.png) == [Self.text])
  }

  @Test("a photo of twelve million points, in the dark and tilted, in which the code is small")
  func photo() throws {
    let ground = GreyImage(width: 4_032, height: 3_024, grey: 120)
    let photo = try Self.code(scale: 8).turned(degrees: 12, grey: 120).placed(on: ground, x: 900, y: 700)
      .map { 10 + $0 / 6 }.noisy(20, seed: 3)
    #expect(try Self.read(photo.png) == [Self.text])
  }

  @Test("a JPEG", .enabled(if: Installed.hasJPEG, "cjpeg is not installed"))
  func jpeg() async throws {
    let picture = try Self.code().turned(degrees: 33).map { 10 + $0 / 10 }.noisy(3, seed: 1)
    for options in [["-quality", "60"], ["-quality", "90", "-progressive"]] {
      let jpeg = try await Self.jpeg(of: picture, options)
      #expect(try Self.read(jpeg) == [Self.text])
      // Cut off: nothing, or what is left of it.
      for count in [3, 20, jpeg.count / 8, jpeg.count / 2] {
        _ = try? Self.read(Array(jpeg.prefix(count)))
      }
      #expect(throws: QRPictureError.damaged) { try Self.read(Array(jpeg.prefix(30))) }
    }
  }

  private static func jpeg(of picture: GreyImage, _ options: [String]) async throws -> [UInt8] {
    let base = NSTemporaryDirectory() + "hpeer-qr-" + UUID().uuidString
    defer { for end in [".pgm", ".jpg"] { try? FileManager.default.removeItem(atPath: base + end) } }
    try Data(picture.pgm).write(to: URL(fileURLWithPath: base + ".pgm"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Installed.cjpeg)
    process.arguments = options + ["-grayscale", "-outfile", base + ".jpg", base + ".pgm"]
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    return Array(try Data(contentsOf: URL(fileURLWithPath: base + ".jpg")))
  }

  @Test("two codes in one picture are two texts, and one code that is there twice is one")
  func two() throws {
    let ground = GreyImage(width: 1_000, height: 500)
    let other = try Self.code("HPEER:P1/OTHER", scale: 6)
    let both = try other.placed(on: Self.code().placed(on: ground, x: 10, y: 10), x: 600, y: 20)
    #expect(try Set(Self.read(both.png)) == [Self.text, "HPEER:P1/OTHER"])
    let twice = other.placed(on: other.placed(on: ground, x: 10, y: 20), x: 600, y: 100)
    #expect(try Self.read(twice.png) == ["HPEER:P1/OTHER"])
  }

  @Test("what is no picture, none that is read, damaged, or too large")
  func hostile() throws {
    #expect(throws: QRPictureError.noPicture(kind: nil)) { try Self.read([]) }
    #expect(throws: QRPictureError.noPicture(kind: nil)) { try Self.read(Array("hello".utf8)) }
    #expect(throws: QRPictureError.noPicture(kind: "HEIC")) { try Self.read([0, 0, 0, 24] + Array("ftypheic".utf8)) }
    #expect(throws: QRPictureError.noPicture(kind: "WebP")) { try Self.read(Array("RIFF....WEBP".utf8)) }
    #expect(throws: QRPictureError.nothingFound) {
      try Self.read(GreyImage(width: 200, height: 100).png)
    }
    // Refused by what the first bytes say, before anything is decoded or allocated.
    for (width, height) in [(30_000, 30_000), (19_000, 19_000), (1 << 31, 1), (60_000_000, 1)] {
      #expect(throws: QRPictureError.tooLarge) {
        try Self.read(GreyImage.png(width: width, height: height, data: [0x78, 1]))
      }
    }
    #expect(throws: QRPictureError.damaged) { try Self.read(GreyImage.png(width: 0, height: 10, data: [])) }
    // Fewer rows than its header says, and none at all.
    let empty: [UInt8] = [0x78, 1, 1, 0, 0, 255, 255, 0, 0, 0, 1]
    #expect(throws: QRPictureError.damaged) { try Self.read(GreyImage.png(width: 7_000, height: 7_000, data: empty)) }
    let cut = Array(try Self.code().png.prefix(3_000))
    #expect(throws: QRPictureError.damaged) { try Self.read(cut) }
    // A frame of 65,535 points in each direction, and lengths that lead nowhere.
    let frame: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 255, 255, 255, 255, 1, 1, 0x11, 0]
    #expect(throws: QRPictureError.tooLarge) { try Self.read(frame) }
    for bytes: [UInt8] in [
      [0xFF, 0xD8, 0xFF], [0xFF, 0xD8, 0xFF, 0xE0, 0, 0], [0xFF, 0xD8, 0xFF, 0xE0, 255, 255],
      [0xFF, 0xD8, 0xFF, 0xC0, 0, 2, 8], [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 1, 2, 3],
    ] {
      #expect(throws: QRPictureError.damaged) { try Self.read(bytes) }
    }
  }

  @Test("bytes of pictures that are changed at random end in texts or an error")
  func random() throws {
    var generator = SeededGenerator(seed: 17)
    let whole = try Self.code(scale: 2).png
    for _ in 0..<200 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...20, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      do throws(QRPictureError) {
        #expect(try Self.read(bytes).count > 0)
      } catch {
        #expect([.damaged, .nothingFound, .tooLarge, .noPicture(kind: nil)].contains(error))
      }
    }
  }

  @Test("what a process says that was taken over is bounded")
  func answers() throws {
    #expect(throws: QRPictureError.failed) { try PictureAnswer(encoded: Data("no".utf8)) }
    #expect(throws: QRPictureError.failed) {
      try PictureAnswer(encoded: Data(repeating: 0x20, count: PictureAnswer.longest + 1))
    }
    let long = #"{"codes":[[\#(Array(repeating: "65", count: 5_000).joined(separator: ","))]],"names":[]}"#
    #expect(throws: QRPictureError.failed) { try PictureAnswer(encoded: Data(long.utf8)) }
    for name in [String(repeating: "x", count: 50), "some-package", "libzbar0; reboot", ""] {
      let named = #"{"codes":[],"failure":"missing","names":["\#(name)"]}"#
      #expect(throws: QRPictureError.failed) { try PictureAnswer(encoded: Data(named.utf8)) }
    }
    let answer = try PictureAnswer(encoded: PictureAnswer(codes: [[0x41], [0xFF]]).encoded)
    #expect(try answer.texts() == ["A"])
    #expect(throws: QRPictureError.nothingFound) { try PictureAnswer(codes: [[0xFF]]).texts() }
    let missing = try PictureAnswer(encoded: PictureAnswer(failure: .missing, ["libzbar0"]).encoded)
    #expect(throws: QRPictureError.missing(["libzbar0"])) { try missing.texts() }
    #expect("\(QRPictureError.missing(["libzbar0"]))".contains("sudo apt install libzbar0"))
  }

  @Test("a library that is not there is missing, and so is a function")
  func libraries() {
    #expect(DynamicLibrary("libnothing-of-that-name.so.1") == nil)
    let library = DynamicLibrary("libpng16.so.16")
    #expect(library?.function("no_such_function", (@convention(c) () -> Void).self) == nil)
  }
}
