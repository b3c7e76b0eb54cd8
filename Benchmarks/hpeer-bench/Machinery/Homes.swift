import BenchData
import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust

/// Homes of hpeer that are paired once and then copied.
struct Homes: Sendable {
  private let bench: Bench
  private var workspace: Workspace { bench.workspace }

  init(_ bench: Bench) { self.bench = bench }

  // MARK: Pairing

  /// The number of paired clients, each with its own identity.
  static let clients = 8

  /// Returns a home that is paired with every server of ``server(of:)`` and has no store yet.
  ///
  /// - Parameter index: The index of the client, below ``clients``.
  func client(_ index: Int = 0, port: Int) async throws -> String {
    try await pair()
    let home = workspace.fresh("client")
    try await copy("paired/client-\(index)", to: home)
    try await point(home, to: port)
    return home
  }

  /// Directs a client's next pull to a port, as if its server had last been seen there.
  func point(_ home: String, to port: Int) async throws {
    let registry = try await PeerRegistry.open(in: URL(fileURLWithPath: home))
    for server in try await registry.servers() {
      try await registry.updateServer(id: server.id, host: "127.0.0.1", port: UInt16(port))
    }
  }

  private func pair() async throws {
    guard !workspace.has("paired") else { return }
    Log.say("  pairing \(Self.clients) clients")
    let draft = workspace.fresh("paired")
    let serving = "\(draft)/server"
    try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: true)
    let server = try await Server(bench, home: serving)
    for index in 0..<Self.clients {
      let home = "\(draft)/client-\(index)"
      let window = try Service(bench.program, ["pair", "--wait"], home: serving, in: workspace)
      let (_, first, second) = try await window.errors(matching: #/Code: (\d{3}) (\d{3})/#)
      _ = try await bench.program.run(
        ["pair", "--host", "127.0.0.1:\(server.port)", "--code-stdin"], home: home, input: "\(first)\(second)\n",
        in: workspace)
      try await window.stop()
      removeStore(home)
    }
    try await server.service.stop()
    removeStore(serving)
    try FileManager.default.moveItem(atPath: draft, toPath: workspace.file("paired"))
  }

  private func removeStore(_ home: String) {
    for end in ["", "-wal", "-shm"] { workspace.remove("\(home)/store.sqlite\(end)") }
  }

  // MARK: Stores

  /// Returns a home that serves the given number of samples.
  func server(of count: Int) async throws -> String {
    try await pair()
    let name = "server-\(try key(count))"
    let home = workspace.file(name)
    guard !workspace.has(name) else { return home }
    Log.say("  making a store of \(count) samples")
    let draft = workspace.fresh("draft")
    try await copy("paired/server", to: draft)
    try await fill(draft, count: count)
    try FileManager.default.moveItem(atPath: draft, toPath: home)
    return home
  }

  /// Returns a home that has pulled everything from ``server(of:)``, which serves at the given port.
  func pulled(_ count: Int, port: Int) async throws -> String {
    let name = "pulled-\(try key(count))"
    let home = workspace.file(name)
    if !workspace.has(name) {
      Log.say("  pulling \(count) samples")
      let draft = try await client(port: port)
      _ = try await bench.program.run(["pull"], home: draft, in: workspace)
      try keep(draft, asPulled: count)
    }
    try await point(home, to: port)
    return home
  }

  /// Stores a client that has just pulled everything as the home of ``pulled(_:port:)``.
  func keep(_ client: String, asPulled count: Int) throws {
    let name = "pulled-\(try key(count))"
    if workspace.has(name) { return workspace.remove(client) }
    try FileManager.default.moveItem(atPath: client, toPath: workspace.file(name))
  }

  private func fill(_ home: String, count: Int) async throws {
    let store = try HealthStore(directory: home)
    var history = HealthHistory(seed: bench.seed, count: count, identity: bench.identity, imported: bench.imported)
    var samples = history.next(Self.batch)
    while !samples.isEmpty {
      let current = history
      async let following = onThread { _ in
        var history = current
        return (history.next(Self.batch), history)
      }
      _ = try await store.apply(ChangeBatch(additions: samples))
      (samples, history) = await following
    }
  }

  private static let batch = 50_000

  /// Returns the part of a file name that identifies the store's content. It includes the seed and the current
  /// schema.
  private func key(_ count: Int) throws -> String {
    "\(count)-\(bench.seed)-\(bench.identity)-\(bench.imported)-\(try BareInsert.schemaMark(in: workspace))"
  }

  private func copy(_ name: String, to path: String) async throws {
    let source = workspace.file(name)
    try await onThread { _ in try FileManager.default.copyItem(atPath: source, toPath: path) }
  }
}
