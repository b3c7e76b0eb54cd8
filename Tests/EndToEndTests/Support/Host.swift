import Foundation
import HealthModel
import HealthStore
import Synchronization
import Testing

/// The paths of the source tree and the built programs.
enum Build {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  /// The binary built beside the test bundle.
  static let hpeer = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("hpeer").path
  static let twoHosts = root + "/scripts/two-hosts"
}

/// A machine that runs the built binary with its own home.
struct Host: Sendable {
  let home: String
  /// The directory that keeps processes started here until the test ends.
  let scratch: Scratch
  /// The command prefix that enters the host's namespaces. Empty for the local machine.
  var prefix: [String] = []

  func start(_ arguments: [String], input: String? = nil, environment: [String: String] = [:]) throws -> RunningCommand
  {
    // Units follow the locale.
    let variables = ["LC_ALL=C.UTF-8"] + environment.map { "\($0.key)=\($0.value)" } + ["HPEER_HOME=\(home)"]
    let command = try RunningCommand(prefix + ["env"] + variables + [Build.hpeer] + arguments, input: input)
    scratch.keep(command)
    return command
  }

  func run(
    _ arguments: String..., input: String? = nil, environment: [String: String] = [:]
  ) async throws -> Outcome {
    try await start(arguments, input: input, environment: environment).outcome()
  }

  /// Runs a shell script on the host.
  func sh(_ script: String) async throws -> Outcome {
    try await RunningCommand(prefix + ["bash", "-c", script]).outcome()
  }

  /// Starts `hpeer serve` and waits until it listens and is announced. Returns the process and its port.
  func serve(
    _ arguments: [String] = ["--port", "0"], environment: [String: String] = [:]
  ) async throws -> (RunningCommand, port: Int) {
    let server = try start(["serve"] + arguments, environment: environment)
    let match = try await server.errors(matching: #/on port (\d+)/#)
    if !arguments.contains("--no-advertise") { try await server.errors(matching: #/(Announced|Not announced)/#) }
    return (server, try #require(Int(match.1)))
  }

  /// Opens a pairing window on the running server. Returns the code and the command that waits for a client.
  func openWindow(_ arguments: [String] = []) async throws -> (code: String, RunningCommand) {
    let waiting = try start(["pair", "--wait"] + arguments)
    let match = try await waiting.errors(matching: #/Code: (\d{3} \d{3})/#)
    return (String(match.1), waiting)
  }

  /// Returns all samples in the store, by reference.
  func contents() async throws -> [SampleReference: Sample] {
    let store = try HealthStore(directory: home, create: false)
    var contents: [SampleReference: Sample] = [:]
    var anchor = Anchor.zero
    while true {
      let page = try await store.feed.changes(since: anchor, limit: 10_000)
      for case .added(let sample) in page.changes {
        #expect(contents.updateValue(sample, forKey: sample.reference) == nil, "twice in one store: \(sample.uuid)")
      }
      if page.isLast { return contents }
      anchor = page.anchor
    }
  }

  func sampleCount() async throws -> Int {
    guard let store = try? HealthStore(directory: home, create: false) else { return 0 }
    return try await store.samples.typeCounts().reduce(0) { $0 + $1.samples }
  }
}

/// A directory that is removed after the test. Processes started in it are killed.
final class Scratch: Sendable {
  let path = NSTemporaryDirectory() + "hpeer-e2e-" + UUID().uuidString.prefix(8)
  private let commands = Mutex<[RunningCommand]>([])

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    for command in commands.withLock(\.self) { command.send(SIGKILL) }
    try? FileManager.default.removeItem(atPath: path)
  }

  func keep(_ command: RunningCommand) {
    commands.withLock { $0.append(command) }
  }

  /// Returns a host on this machine.
  func host(_ name: String) -> Host { Host(home: path + "/" + name, scratch: self) }
}
