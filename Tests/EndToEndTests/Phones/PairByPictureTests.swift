import Foundation
import Terminal
import TestSupport
import Testing

/// Tests of `hpeer pair --qr` on this machine: the rights that the picture-reading process drops, its messages, and
/// hpeer's own code.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PairByPictureTests {
  private let scratch: Scratch
  private let client: Host

  init() throws {
    scratch = try Scratch()
    client = scratch.host("client")
  }

  static let hasLibraries = ["libzbar.so.0", "libpng16.so.16"].allSatisfy { name in
    ["x86_64", "aarch64"].contains { FileManager.default.fileExists(atPath: "/usr/lib/\($0)-linux-gnu/\(name)") }
  }

  private static func picture(of text: String, scale: Int = 5) throws -> GreyImage {
    let code = try QRCode(text)
    return GreyImage(modules: code.moduleCount, scale: scale, isDark: code.isDark)
  }

  private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = scratch.path + "/" + name
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test(
    "a tilted, dark picture of an hpeer's code pairs with it",
    .enabled(if: PairByPictureTests.hasLibraries, "libzbar0 and libpng16-16 are not installed"))
  func pairing() async throws {
    let studio = scratch.host("studio")
    try await studio.hold(.small)
    _ = try await studio.serve(["--port", "0", "--no-advertise", "--bind", "127.0.0.1", "--name", "studio"])
    let waiting = try studio.start(["pair", "--wait", "--pairing-json"])
    let json = try await eventually("the code's text") {
      waiting.output.split(separator: "\n").first { $0.hasPrefix("{") }
    }
    let code = try Self.picture(of: String(json))
    let path = try file("shot.png", code.turned(degrees: 17, grey: 180).map { 10 + $0 / 8 }.noisy(3, seed: 1).png)
    let paired = try await client.run("pair", "--qr", path)
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.errors.contains("Paired with studio"))
    #expect(try await client.run("pull", "studio").status == 0)
    #expect(try await client.contents() == studio.contents())
  }

  @Test(
    "what is no picture of one code is one sentence and bad input",
    .enabled(if: PairByPictureTests.hasLibraries, "libzbar0 and libpng16-16 are not installed"))
  func refused() async throws {
    let ground = GreyImage(width: 1_200, height: 600)
    let payloads = [7, 8].map {
      #"{"version":"1","host":"192.0.2.\#($0)","port":5000,"code":"AbCdEf23","certificateFingerprint":"\#(String(repeating: "9f", count: 32))"}"#
    }
    let two = try Self.picture(of: payloads[1], scale: 4)
      .placed(on: Self.picture(of: payloads[0], scale: 4).placed(on: ground, x: 20, y: 20), x: 620, y: 40)
    let pictures: [(name: String, bytes: [UInt8], says: String)] = [
      ("empty.png", [], "This is no picture that is read here"),
      ("photo.heic", [0, 0, 0, 24] + Array("ftypheic".utf8), "HEIC"),
      ("bomb.png", GreyImage.png(width: 30_000, height: 30_000, data: [0x78, 1]), "too large"),
      ("cut.png", Array(try Self.picture(of: payloads[0]).png.prefix(2_000)), "cut off or damaged"),
      ("white.png", GreyImage(width: 300, height: 300).png, "No QR code was found"),
      ("other.png", try Self.picture(of: "https://example.org").png, "This is not a pairing code"),
      ("two.png", two.png, "192.0.2.7:5000, 192.0.2.8:5000"),
    ]
    for picture in pictures {
      let outcome = try await client.run("pair", "phone", "--qr", try file(picture.name, picture.bytes))
      #expect(outcome.status == 65, "\(picture.name): \(outcome.errors)")
      #expect(outcome.errors.contains(picture.says), "\(picture.name): \(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
      #expect(outcome.output.isEmpty)
    }
    for path in [scratch.path + "/nothing.png", scratch.path, "/dev/zero"] {
      let outcome = try await client.run("pair", "phone", "--qr", path)
      #expect(outcome.status == 65, "\(outcome.errors)")
      #expect(outcome.errors.contains("cannot be read"), "\(outcome.errors)")
    }
  }

  @Test(
    "of several codes in one picture a person chooses one, and anything else than its number sends nothing",
    .enabled(if: PairByPictureTests.hasLibraries, "libzbar0 and libpng16-16 are not installed"))
  func choosing() async throws {
    let studio = scratch.host("studio")
    let (_, port) = try await studio.serve(["--port", "0", "--no-advertise", "--bind", "127.0.0.1", "--name", "studio"])
    let waiting = try studio.start(["pair", "--wait", "--pairing-json"])
    let json = try await eventually("the code's text") {
      waiting.output.split(separator: "\n").first { $0.hasPrefix("{") }
    }
    let other =
      #"{"version":"1","host":"192.0.2.7","port":5000,"code":"AbCdEf23","certificateFingerprint":"\#(String(repeating: "9f", count: 32))"}"#
    let ground = GreyImage(width: 1_200, height: 600)
    let two = try Self.picture(of: other, scale: 4)
      .placed(on: Self.picture(of: String(json), scale: 4).placed(on: ground, x: 20, y: 20), x: 620, y: 40)
    let words = ["HPEER_HOME=\(client.home)", Build.hpeer, "pair", "--qr", try file("choice.png", two.png)]

    let wrong = try PseudoTerminal(words)
    try await wrong.text(matching: #/[12]  192\.0\.2\.7:5000 \(HealthSync\)/#)
    try await wrong.text(matching: #/Which one do you mean\? \[1-2\]/#)
    wrong.type("3\n")
    try await wrong.text(matching: #/nothing was sent/#)
    #expect(try await wrong.exitStatus() == 65)

    let right = try PseudoTerminal(words)
    let line = try await right.text(matching: #/([12])  127\.0\.0\.1:(\d+) \(hpeer/#)
    #expect(Int(line.2) == port)
    try await right.text(matching: #/Which one do you mean\? \[1-2\]/#)
    right.type("\(line.1)\n")
    try await right.text(matching: #/with studio/#)
    #expect(try await right.exitStatus() == 0)
  }

  @Test("options that say whom a code is of exclude each other, and a fingerprint is 64 digits")
  func options() async throws {
    let hex = String(repeating: "9F:", count: 31) + "9F"
    for arguments in [
      ["pair", "phone", "-", "--qr", "x.png"], ["pair", "phone", "--qr", "x.png", "--code-stdin"],
      ["pair", "phone", "--qr", "x.png", "--fingerprint", hex], ["pair", "phone", "-", "--fingerprint", hex],
      ["pair", "--wait", "--qr", "x.png"], ["pair", "--close", "--fingerprint", hex],
      ["pair", "phone", "--fingerprint", "9f9f"], ["pair", "phone", "--fingerprint", hex + ":9F"],
    ] {
      let outcome = try await client.start(arguments).outcome()
      #expect(outcome.status == 2, "\(arguments): \(outcome.errors)")
    }
  }

  @Test(
    "the process that reads can open nothing, has nothing of this one's environment, and gets no further memory",
    .enabled(if: PairByPictureTests.hasLibraries, "libzbar0 and libpng16-16 are not installed"))
  func confined() async throws {
    // It takes some seconds to find nothing in so much noise.
    let noise = GreyImage(width: 2_600, height: 2_000, grey: 120).noisy(100, seed: 4)
    let path = try file("noise.png", noise.png)
    let command = try client.start(
      ["pair", "phone", "--qr", path], environment: ["HPEER_SECRET": "in-the-environment"])
    let reader = try await eventually("it reads, confined") { () -> Int32? in
      guard let pid = Self.reader(of: command),
        let limits = try? String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8),
        limits.contains(#/Max open files +0 +0/#)
      else { return nil }
      return pid
    }
    let limits = try String(contentsOfFile: "/proc/\(reader)/limits", encoding: .utf8)
    #expect(limits.contains(#/Max file size +0 +0/#))
    #expect(limits.contains(#/Max cpu time +30 +30/#))
    #expect(limits.contains(#/Max address space +2147483648 +2147483648/#))
    if getuid() == 0 {
      let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(reader)/environ"))
      #expect(environment.isEmpty)
      let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(reader)/fd")
      #expect(Set(open) == ["0", "1", "2"])
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(reader)/cwd") == "/")
    }
    if let status = try? String(contentsOfFile: "/proc/\(reader)/status", encoding: .utf8), status.contains("Seccomp:")
    {
      // A filter, set a moment after the limits.
      try await eventually("system calls are filtered") {
        try String(contentsOfFile: "/proc/\(reader)/status", encoding: .utf8).contains(#/Seccomp:\t2/#) ? true : nil
      }
    }
    #expect(try await command.outcome().status == 65)
  }

  @Test("a picture that is interrupted leaves no process behind")
  func interrupted() async throws {
    guard Self.hasLibraries else { return }
    let path = try file("noise.png", GreyImage(width: 2_600, height: 2_000, grey: 120).noisy(100, seed: 4).png)
    let command = try client.start(["pair", "phone", "--qr", path])
    let reader = try await eventually("it reads") { Self.reader(of: command) }
    command.send(SIGTERM)
    _ = try await command.outcome()
    // Or it has ended, and nothing has asked how.
    try await eventually("it is gone") { Self.words(of: reader).isEmpty ? true : nil }
  }

  /// Returns the process that a command uses to read a picture.
  private static func reader(of command: RunningCommand) -> Int32? {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.lazy.compactMap { Int32($0) }.first { process in
      guard words(of: process).last == "read-qr-picture",
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      else { return false }
      return status.contains("PPid:\t\(command.pid)\n")
    }
  }

  private static func words(of process: Int32) -> [String] {
    let line = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
    return line.split(separator: "\0").map(String.init)
  }
}
