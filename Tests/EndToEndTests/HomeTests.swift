import Foundation
import Testing

/// Tests of the location of the home: `--home`, `HPEER_HOME`, the XDG Base Directory Specification, `HOME`.
@Suite(.timeLimit(.minutes(5)))
struct HomeTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Runs `hpeer identity`, which creates its home, in the folder `work`, with exactly this environment.
  private func identity(_ environment: [String: String], _ arguments: [String] = []) async throws -> Outcome {
    let folder = scratch.path + "/work"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let variables = environment.merging(["PATH": path]) { $1 }.map { "\($0.key)=\($0.value)" }
    return try await RunningCommand(
      ["--chdir=" + folder, "-i"] + variables + [Build.hpeer, "identity"] + arguments
    ).outcome()
  }

  private func isHome(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: scratch.path + "/" + path + "/identity")
  }

  @Test("HOME comes before the password file")
  func home() async throws {
    #expect(try await identity(["HOME": scratch.path + "/me"]).status == 0)
    #expect(isHome("me/.local/share/hpeer"))
  }

  @Test("XDG_DATA_HOME counts if it is absolute", arguments: ["", "data", "./data"])
  func notAbsolute(_ value: String) async throws {
    #expect(try await identity(["HOME": scratch.path + "/me", "XDG_DATA_HOME": value]).status == 0)
    #expect(isHome("me/.local/share/hpeer"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/work").isEmpty)
  }

  @Test("an absolute XDG_DATA_HOME is where it says")
  func absolute() async throws {
    let environment = ["HOME": scratch.path + "/me", "XDG_DATA_HOME": scratch.path + "/data"]
    #expect(try await identity(environment).status == 0)
    #expect(isHome("data/hpeer"))
    #expect(!isHome("me/.local/share/hpeer"))
  }

  @Test("HPEER_HOME and --home are paths as any, from here or from ~; an empty option is a mistake")
  func chosen() async throws {
    let me = ["HOME": scratch.path + "/me"]
    #expect(try await identity(me.merging(["HPEER_HOME": "here"]) { $1 }).status == 0)
    #expect(isHome("work/here"))
    #expect(try await identity(me, ["--home", "~/there"]).status == 0)
    #expect(isHome("me/there"))
    #expect(try await identity(me.merging(["HPEER_HOME": ""]) { $1 }).status == 0)
    #expect(isHome("me/.local/share/hpeer"))
    let empty = try await identity(me, ["--home", ""])
    #expect(empty.status == 2)
    #expect(empty.errors.contains("--home"))
  }

  @Test("a server listens where XDG_RUNTIME_DIR says, if that is absolute", arguments: [true, false])
  func runtimeDirectory(isAbsolute: Bool) async throws {
    let (me, runtime) = (scratch.path + "/me", scratch.path + "/run")
    try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
    let server = try RunningCommand([
      "-u", "HPEER_HOME", "-u", "XDG_DATA_HOME", "HOME=" + me, "XDG_RUNTIME_DIR=" + (isAbsolute ? runtime : "run"),
      Build.hpeer, "serve", "--port", "0", "--no-advertise", "--bind", "127.0.0.1",
    ])
    scratch.keep(server)
    try await server.errors(matching: #/on port \d+/#)
    let socket = isAbsolute ? runtime + "/hpeer.sock" : me + "/.local/share/hpeer/control.sock"
    try await eventually("the control socket is there") {
      FileManager.default.fileExists(atPath: socket) ? true : nil
    }
  }

  @Test("a server without XDG_RUNTIME_DIR, as a system unit is, is found by its user who has one")
  func systemUnit() async throws {
    let (me, runtime) = (scratch.path + "/me", scratch.path + "/run")
    try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
    let home = ["-u", "HPEER_HOME", "-u", "XDG_DATA_HOME", "HOME=" + me]
    let server = try RunningCommand(
      ["-u", "XDG_RUNTIME_DIR"] + home
        + [Build.hpeer, "serve", "--port", "0", "--no-advertise", "--bind", "127.0.0.1"])
    scratch.keep(server)
    try await server.errors(matching: #/on port \d+/#)
    let waiting = try RunningCommand(home + ["XDG_RUNTIME_DIR=" + runtime, Build.hpeer, "pair", "--wait"])
    scratch.keep(waiting)
    try await waiting.errors(matching: #/Code: \d{3} \d{3}/#)
  }
}
