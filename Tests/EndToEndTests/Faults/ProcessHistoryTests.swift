import Foundation
import HealthModel
import TestSupport
import Testing

/// Random histories of three machines that serve, import, pull and delete while their processes are killed at any
/// moment. After a period without kills, all must have the same record, with nothing imported missing and nothing
/// deleted back.
///
/// `HPEER_PROCESS_HISTORIES` is the number of histories, `HPEER_HISTORY_SEED` the first seed.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct ProcessHistoryTests {
  private static func number(_ variable: String, _ fallback: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? fallback
  }

  private static let seeds: [UInt64] = {
    let first = number("HPEER_HISTORY_SEED", 0)
    return Array(first..<first + number("HPEER_PROCESS_HISTORIES", 1))
  }()

  @Test("killed again and again, three machines end up with one record", arguments: seeds)
  func agree(seed: UInt64) async throws {
    let history = try await ProcessHistory(seed: seed)
    do {
      try await history.run()
    } catch {
      Issue.record("seed \(seed): \(error)\n\(history.log.joined(separator: "\n"))")
    }
  }
}

private final class ProcessHistory {
  private struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private struct Machine {
    let host: Host
    var server: RunningCommand
    let port: Int
  }

  private var random: SeededGenerator
  private let scratch: Scratch
  private var machines: [Machine] = []
  private var exports: [String] = []
  private(set) var log: [String] = []
  /// The samples that a completed import added or found.
  private var imported: Set<SampleReference> = []
  private var deleted: Set<SampleReference> = []
  /// The samples of a deletion that was killed or ran during a pull.
  private var unknown: Set<SampleReference> = []

  init(seed: UInt64) async throws {
    random = SeededGenerator(seed: seed)
    scratch = try Scratch()
    exports = [try await SampleExport.small.path, try await SampleExport.smallLater.path]
    exports.append(try await cutExport(exports[0]))
    for name in ["attic", "studio", "laptop"] {
      let host = scratch.host(name)
      let (server, port) = try await host.serve(Self.serveArguments(name, port: 0))
      machines.append(Machine(host: host, server: server, port: port))
    }
    for (into, from) in pairs {
      let (code, _) = try await machines[from].host.openWindow()
      let paired = try await machines[into].host.run(
        "pair", "--host", "127.0.0.1:\(machines[from].port)", "--code-stdin", input: code)
      try require(paired.status == 0, paired.errors)
    }
  }

  private static func serveArguments(_ name: String, port: Int) -> [String] {
    ["--port", "\(port)", "--no-advertise", "--bind", "127.0.0.1", "--name", name]
  }

  private var pairs: [(into: Int, from: Int)] {
    machines.indices.flatMap { into in machines.indices.map { (into, $0) } }.filter { $0.0 != $0.1 }
  }

  private func name(_ machine: Int) -> String { URL(fileURLWithPath: machines[machine].host.home).lastPathComponent }

  private func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw Failure(description: text()) }
  }

  /// Returns the path of the first export, truncated in the middle of a record.
  private func cutExport(_ export: String) async throws -> String {
    let path = scratch.path + "/cut.xml"
    let unpacked = try await RunningCommand(["unzip", "-p", export, "*.xml"]).outcome()
    try #require(unpacked.status == 0)
    try unpacked.output.prefix(unpacked.output.count * 2 / 3).write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  // MARK: Steps

  func run() async throws {
    for _ in 0..<Int.random(in: 8...16, using: &random) {
      let machine = Int.random(in: 0..<machines.count, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<3: try await importExport(machine)
      case 3..<7: try await pull(machine, (machine + Int.random(in: 1...2, using: &random)) % machines.count)
      case 7: try await delete(machine)
      default: try await restart(machine)
      }
    }
    for machine in machines.indices { try await restart(machine) }
    try await settle()
  }

  /// Runs a command, and sometimes kills it.
  ///
  /// - Returns: Whether the command completed.
  private func command(_ machine: Int, _ arguments: [String]) async throws -> Bool {
    let command = try machines[machine].host.start(arguments)
    let delay = random.oneIn(2) ? Int.random(in: 0...700, using: &random) : nil
    log.append("\(name(machine)): \(arguments.joined(separator: " "))\(delay.map { ", killed after \($0) ms" } ?? "")")
    if let delay {
      try await Task.sleep(for: .milliseconds(delay))
      command.send(SIGKILL)
    }
    let outcome = try await command.outcome()
    let allowed: Set<Int32> = [0, 128 + SIGKILL]
    // A file that ends in the middle, and a server that is not there.
    try require(
      allowed.union([1, 3, 65]).contains(outcome.status), "\(arguments): \(outcome.status) \(outcome.errors)")
    return outcome.status == 0
  }

  private func importExport(_ machine: Int) async throws {
    let export = Int.random(in: 0..<exports.count, using: &random)
    let hasEnded = try await command(machine, ["import", exports[export]])
    if hasEnded, export < 2 { imported.formUnion(try await references(of: export)) }
  }

  private var known: [Int: Set<SampleReference>] = [:]

  /// Returns the samples of a machine that has only imported a given export.
  private func references(of export: Int) async throws -> Set<SampleReference> {
    if let known = known[export] { return known }
    let host = scratch.host("export-\(export)")
    try require(try await host.run("import", exports[export]).status == 0, "an export cannot be read")
    let references = Set(try await host.contents().keys)
    known[export] = references
    return references
  }

  /// Pulls with `--merge-person`, because a machine with a partial import may not know whose record it has.
  private func pull(_ into: Int, _ from: Int) async throws {
    _ = try await command(into, ["pull", name(from), "--merge-person"] + (random.oneIn(6) ? ["--full"] : []))
  }

  private func delete(_ machine: Int) async throws {
    let type = random.pick(["heartRate", "stepCount", "bodyMass"])
    let before = Set(try await machines[machine].host.contents().keys.filter { $0.type.shortName == type })
    let hasEnded = try await command(
      machine, ["delete", "--type", type, "--from", "2000-01-01", "--to", "2100-01-01", "--yes"])
    if hasEnded { deleted.formUnion(before) } else { unknown.formUnion(before) }
  }

  /// Kills a server, as a power failure would, and restarts it.
  private func restart(_ machine: Int) async throws {
    log.append("\(name(machine)): the server is killed")
    try await machines[machine].server.end()
    let (server, _) = try await machines[machine].host.serve(
      Self.serveArguments(name(machine), port: machines[machine].port))
    machines[machine].server = server
  }

  // MARK: The end

  private func settle() async throws {
    for _ in 0..<6 {
      var moved = false
      for (into, from) in pairs.shuffled(using: &random) {
        let before = try await digest(into)
        let pulled = try await machines[into].host.run("pull", name(from), "--merge-person")
        try require(pulled.status == 0, "\(name(into)) from \(name(from)): \(pulled.errors)")
        if try await digest(into) != before { moved = true }
      }
      if !moved { break }
    }
    let first = try await view(0)
    let everything = try await machines[0].host.everything()
    for machine in machines.indices {
      let (its, contents) = (try await view(machine), try await machines[machine].host.everything())
      try require(its == first && contents == everything, "\(name(machine)) has another record than \(name(0))")
      try await machines[machine].host.expectIntegrity("\(log)")
    }
    let there = Set(everything.samples.keys)
    let missing = imported.subtracting(deleted).subtracting(unknown).subtracting(there)
    try require(missing.isEmpty, "\(missing.count) were imported and are missing: \(missing.prefix(3))")
    let back = deleted.intersection(there)
    try require(back.isEmpty, "\(back.count) were deleted and are back: \(back.prefix(3))")
  }

  private func digest(_ machine: Int) async throws -> String {
    try await machines[machine].host.run("digest", "--json").output
  }

  /// Returns what a machine reports about its record, as sorted lines.
  private func view(_ machine: Int) async throws -> [[String]] {
    var view: [[String]] = []
    for arguments in [
      ["types", "--csv"], ["coverage", "--json"], ["stats", "stepCount", "--by", "day", "--json"],
      ["export", "--format", "csv"], ["export", "--format", "statistics-csv"],
    ] {
      let outcome = try await machines[machine].host.start(arguments).outcome()
      try require([0, 3].contains(outcome.status), "\(arguments): \(outcome.errors)")
      view.append(outcome.output.split(separator: "\n").map(String.init).sorted())
    }
    return view
  }
}
