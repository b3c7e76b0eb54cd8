import Foundation

/// A benchmark of other importers from the Python registry, with the same file on the same kind of disk.
struct OtherImporters {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    var row = Row(.importers)
    if bench.sizes.isQuick {
      row.skipped = "they take minutes, and the network"
      return row
    }
    let python: Program
    switch try await install() {
    case .success(let program): python = program
    case .failure(let reason):
      row.skipped = reason.description
      return row
    }
    let zip = try await bench.exports.file(of: bench.sizes.samples)
    let xml = try await bench.exports.file(of: bench.sizes.samples, isZipped: false)
    for (name, directory) in try await mediums() {
      let ours = try await hpeer(zip.path, in: directory)
      row.add("hpeer, \(name)", medianOf: ours, .seconds)
      for peer in Self.peers {
        Log.say("  \(peer.name), \(name)")
        let database = "\(directory())/\(peer.name).db"
        try? FileManager.default.createDirectory(
          atPath: URL(fileURLWithPath: database).deletingLastPathComponent().path, withIntermediateDirectories: true)
        bench.workspace.settle()
        let outcome = try await python.run(
          ["-c", peer.script, peer.takesXML ? xml.path : zip.path, database], home: nil, in: bench.workspace)
        bench.workspace.remove(URL(fileURLWithPath: database).deletingLastPathComponent().path)
        row.add("\(peer.name) \(peer.version), \(name)", outcome.seconds, .seconds)
        row.add(
          "\(peer.name) / hpeer, \(name)", outcome.seconds / median(ours), .ratio,
          goal: .atLeast(name == "tmpfs" ? peer.goals.memory : peer.goals.disk))
      }
    }
    return row
  }

  // MARK: The others

  private struct Peer {
    let name: String
    let version: String
    /// The factor by which hpeer should be faster.
    let goals: (memory: Double, disk: Double)
    /// Whether the importer needs the XML file, because it reads zip files only by unpacking them first.
    let takesXML: Bool
    /// A Python script whose arguments are the export and the database.
    let script: String
  }

  private static let peers = [
    Peer(
      name: "healthkit-to-sqlite", version: "1.0.1", goals: (6, 20), takesXML: false,
      script: """
        import sys
        from healthkit_to_sqlite.cli import cli
        cli(["--silent", sys.argv[1], sys.argv[2]])
        """),
    // Without its server, which needs a package that has nothing to do with reading.
    Peer(
      name: "apple-health-mcp", version: "0.1.1", goals: (4, 4), takesXML: true,
      script: """
        import sqlite3, sys, types
        from pathlib import Path
        class FastMCP:
          def __init__(self, *a, **k): pass
          def __getattr__(self, name): return lambda *a, **k: (lambda f: f)
        for name in ("mcp", "mcp.server", "mcp.server.fastmcp"): sys.modules[name] = types.ModuleType(name)
        sys.modules["mcp.server.fastmcp"].FastMCP = FastMCP
        from apple_health_mcp import server
        connection = sqlite3.connect(sys.argv[2])
        server._ingest_xml(Path(sys.argv[1]), connection)
        connection.close()
        """),
  ]

  /// Installs all importers in a virtual environment and returns its Python.
  private func install() async throws -> Result<Program, BenchFailure> {
    let environment = bench.workspace.file("importers")
    let path = "\(environment)/bin/python"
    if bench.workspace.has("importers/installed") { return .success(try Program(path: path)) }
    Log.say("  installing other importers")
    do {
      let shell = try Program(path: "/usr/bin/env")
      _ = try await shell.run(["python3", "-m", "venv", "--clear", environment], home: nil, in: bench.workspace)
      let python = try Program(path: path)
      let from = bench.wheels.map { ["--no-index", "--find-links", $0] } ?? []
      let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"] + from
      _ = try await python.run(pip + ["healthkit-to-sqlite==1.0.1"], home: nil, in: bench.workspace)
      _ = try await python.run(pip + ["--no-deps", "apple-health-mcp==0.1.1"], home: nil, in: bench.workspace)
      try "".write(toFile: "\(environment)/installed", atomically: true, encoding: .utf8)
      return .success(python)
    } catch let failure as BenchFailure {
      let reason = failure.description.split(separator: "\n").last.map(String.init) ?? ""
      return .failure(BenchFailure("they could not be installed (--wheels takes a directory with them): \(reason)"))
    }
  }

  // MARK: Ours

  private func hpeer(_ path: String, in directory: () -> String) async throws -> [Double] {
    var times: [Double] = []
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      let home = directory()
      let timed = try await TimedImport(bench, path, into: home)
      bench.workspace.remove(home)
      if round >= bench.sizes.warmUps { times.append(timed.seconds) }
    }
    return times
  }

  /// Returns the kinds of file system available for stores, each with a closure that returns a new path.
  private func mediums() async throws -> [(name: String, directory: () -> String)] {
    let workspace = bench.workspace
    var mediums: [(String, () -> String)] = []
    if let path = try workspace.freshInMemory("on") {
      mediums.append(("tmpfs", { path + UUID().uuidString.prefix(8) }))
    }
    let kind = try await Program(path: "/usr/bin/env").run(
      ["stat", "--file-system", "--format=%T", workspace.path], home: nil, in: workspace)
    if !kind.output.hasPrefix("tmpfs") { mediums.append(("disk", { workspace.fresh("on") })) }
    return mediums
  }
}
