import Foundation
import Testing

/// Two hosts on this machine, `studio` and `laptop`, each with its own network, D-Bus and avahi-daemon.
final class TwoHosts: Sendable {
  let name: String
  let scratch: Scratch
  let studio: Host
  let laptop: Host

  /// The reason why two hosts can't be set up here, or nil.
  static let obstacle = check()
  /// The reason why their cable can't be impaired here, or nil.
  static let netemObstacle = check("netem")

  private static func check(_ what: String...) -> String? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Build.twoHosts)
    process.arguments = ["check"] + what
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    do { try process.run() } catch { return "\(error)" }
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? nil : text
  }

  init() async throws {
    name = "t" + UUID().uuidString.prefix(8).lowercased()
    scratch = try Scratch()
    let outcome = try await RunningCommand([Build.twoHosts, "up", name]).outcome()
    try #require(outcome.status == 0, "two-hosts up: \(outcome.errors)")
    studio = Host(
      home: scratch.path + "/studio", scratch: scratch, prefix: [Build.twoHosts, "exec", name, "studio", "--"])
    laptop = Host(
      home: scratch.path + "/laptop", scratch: scratch, prefix: [Build.twoHosts, "exec", name, "laptop", "--"])
  }

  deinit {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Build.twoHosts)
    process.arguments = ["down", name]
    // `waitUntilExit` would poll for all of the time that servers take to end.
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    if (try? process.run()) != nil { ended.wait() }
  }

  /// Runs `two-hosts avahi|dbus|link|netem ...` for this pair.
  func control(_ command: String, _ arguments: String...) async throws {
    let outcome = try await RunningCommand([Build.twoHosts, command, name] + arguments).outcome()
    try #require(outcome.status == 0, "two-hosts \(command): \(outcome.errors)")
  }

  /// Replaces all of studio's addresses, IPv4 and IPv6, by 10.77.0.9.
  func moveStudio() async throws {
    let moved = try await studio.sh(
      """
      ip -6 address flush dev eth0
      ip address add 10.77.0.9/24 dev eth0
      ip address del 10.77.0.1/24 dev eth0
      ip address replace 10.77.0.9/24 dev eth0
      ip -oneline address show dev eth0
      """)
    // The last address of a network may take the others of that network along.
    let left = moved.output.split(separator: "\n")
    try #require(left.count == 1 && left[0].contains("10.77.0.9"), "\(moved.output)\(moved.errors)")
  }

  /// Pairs the laptop with the serving studio and pulls, as a person would: by name and with the code.
  func pairAndPull() async throws -> Outcome {
    let (code, waiting) = try await studio.openWindow()
    let outcome = try await laptop.run("pull", "studio", "--code-stdin", "--json", input: code + "\n")
    if outcome.status == 0 { #expect(try await waiting.outcome().status == 0) }
    return outcome
  }
}
