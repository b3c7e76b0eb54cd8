import Foundation
import HealthStore
import Testing

/// The home of a server and that of a paired client, on loopback.
struct PairedHomes {
  let scratch: Scratch
  let studio: Host
  /// The client's home, which has pulled nothing yet. Copies of it stand for the same client in many first pulls.
  let laptop: Host
  let contents: StoreContents

  static let serveArguments = ["--port", "0", "--no-advertise", "--bind", "127.0.0.1", "--name", "studio"]

  /// - Parameter deleted: A type whose samples the studio has deleted, so that tombstones are transferred, too.
  init(export: SampleExport, deleting deleted: String? = nil) async throws {
    scratch = try Scratch()
    studio = scratch.host("studio")
    laptop = scratch.host("laptop")
    let made = try await Made.once(["paired", export.name, deleted].compactMap(\.self).joined(separator: "-")) { path in
      try await Self.pair(in: path, export: export, deleting: deleted)
    }
    for host in [studio, laptop] {
      let name = URL(fileURLWithPath: host.home).lastPathComponent
      try FileManager.default.copyItem(atPath: made + "/" + name, toPath: host.home)
    }
    contents = try await studio.everything()
  }

  /// Creates the two homes in `directory`.
  private static func pair(in directory: String, export: SampleExport, deleting deleted: String?) async throws {
    let scratch = try Scratch()
    let (studio, laptop) = (scratch.host("studio"), scratch.host("laptop"))
    try await studio.hold(export)
    if let deleted {
      let arguments = ["delete", "--type", deleted, "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
      #expect(try await studio.start(arguments).outcome().status == 0)
    }
    let (server, port) = try await studio.serve(serveArguments)
    let (code, _) = try await studio.openWindow()
    let paired = try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code)
    try #require(paired.status == 0, "\(paired.errors)")
    // In good order: a socket that a killed server leaves behind cannot be copied.
    server.send(SIGTERM)
    #expect(try await server.outcome().status == 0)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    for host in [studio, laptop] {
      let name = URL(fileURLWithPath: host.home).lastPathComponent
      try FileManager.default.moveItem(atPath: host.home, toPath: directory + "/" + name)
    }
  }

  func serve(_ environment: [String: String] = [:]) async throws -> (RunningCommand, port: Int) {
    let server = try studio.start(["serve"] + Self.serveArguments, environment: environment)
    let match = try await server.errors(matching: #/on port (\d+)/#)
    return (server, try #require(Int(match.1)))
  }

  /// Stores the server's address on the laptop, so that a plain `hpeer pull` finds the server.
  func remember(port: Int) async throws {
    let sql = "UPDATE server SET host = '127.0.0.1', port = \(port)"
    let outcome = try await RunningCommand(["sqlite3", laptop.home + "/peers.sqlite", sql]).outcome()
    try #require(outcome.status == 0, "\(outcome.errors)")
  }
}

extension RunningCommand {
  /// Kills the process, as a power failure would, and waits for its end.
  func end() async throws {
    send(SIGKILL)
    _ = try await outcome()
  }
}
