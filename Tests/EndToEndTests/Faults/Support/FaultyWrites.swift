import Foundation
import TestSupport
import Testing

/// A preloaded library that kills or stops a process, or fills its disk, at a chosen write under its home.
enum FaultyWrites {
  /// The reason why the library isn't available here, or nil.
  static var obstacle: String? { if case .failure(let error) = library { "\(error)" } else { nil } }

  private static let library = Result { try compile() }
  private static let scratch = Result { try Scratch() }

  private static func compile() throws -> String {
    let path = try scratch.get().path + "/faulty_writes.so"
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("faulty_writes.c")
    var reason = "no C compiler"
    for compiler in ["cc", "clang", "gcc"] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [compiler, "-shared", "-fPIC", "-O1", "-o", path, source.path, "-ldl"]
      let pipe = Pipe()
      process.standardError = pipe
      try process.run()
      let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      if process.terminationStatus == 0 { return path }
      reason = text
    }
    throw TimedOut(description: reason)
  }

  /// The point at which a process meets its fault.
  struct Point: Hashable, CustomStringConvertible {
    enum Kind: String, CaseIterable {
      /// A kill just before the call, just after it, or after half of the bytes were written.
      case before, after, torn
      /// A full disk from this call on.
      case full
      /// A stop just after this call and after each later call. SIGCONT lets the process run to the next.
      case hold
    }

    enum Counted: String {
      /// The writes under the home.
      case writes
      /// The data sent over TCP.
      case packets
      /// The ends of SQLite's transactions, each the last frame of its log: a header and a page. Concurrent threads
      /// distribute their writes differently in each run, but each transaction has exactly one end.
      case commits
    }

    /// The number of the call, starting at 1.
    var call: Int
    var kind: Kind
    var counted = Counted.writes

    var description: String { "\(kind.rawValue) \(call) of the \(counted.rawValue)" }
  }

  /// Returns variables to add to the environment of a process.
  ///
  /// - Parameters:
  ///   - log: A file that gets a line for each call.
  ///   - condition: A file. Calls count only while it exists.
  ///   - isHurried: Whether sleeps, and with them waits for locks, take only a hundredth of their time.
  static func environment(
    home: String, at point: Point? = nil, log: String? = nil, while condition: String? = nil, isHurried: Bool = false
  ) throws -> [String: String] {
    var environment = ["LD_PRELOAD": try library.get(), "FAULT_ROOT": home]
    if let point {
      environment["FAULT_AT"] = String(point.call)
      environment["FAULT_MODE"] = point.kind.rawValue
      switch point.counted {
      case .writes: break
      case .packets: environment["FAULT_SOCKETS"] = "1"
      case .commits: environment["FAULT_COMMITS"] = "1"
      }
    }
    environment["FAULT_LOG"] = log
    environment["FAULT_WHILE"] = condition
    if isHurried { environment["FAULT_HURRY"] = "1" }
    return environment
  }
}

/// The writes of a run, in order.
struct WriteLog {
  struct Call: Hashable {
    var number: Int
    var name: String
    var file: String
    /// Whether the call writes the start of the frame that ends a transaction.
    var isCommit: Bool
  }

  let calls: [Call]

  init(_ path: String) throws {
    calls = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      try #require(words.count == 5)
      return Call(
        number: try #require(Int(words[0])), name: String(words[1]), file: String(words[2]), isCommit: words[4] == "1")
    }
  }

  var commits: [Call] { calls.filter(\.isCommit) }

  /// The ``commits`` of transactions with many pages, which are the batches.
  var batches: [Call] {
    let numbers = [0] + commits.map(\.number)
    return zip(numbers, commits).filter { $1.number - $0 > 100 }.map { $1 }
  }

  /// The calls that write to a write-ahead log before any of it goes into the store. A power failure may remove the
  /// end of the log.
  var beforeCheckpoint: [Call] { Array(calls.prefix { $0.file != "store.sqlite" }) }

  /// Returns `count` points at calls that need disk space: the first of each file, and others drawn with `random`.
  func allocations(_ count: Int, using random: inout SeededGenerator) -> [FaultyWrites.Point] {
    let writes = calls.filter { ["pwrite", "write", "mkdir"].contains($0.name) }
    var first: [String: Call] = [:]
    for write in writes where first[write.file] == nil { first[write.file] = write }
    var numbers = first.values.map(\.number).sorted()
    while numbers.count < count { numbers.append(random.pick(writes).number) }
    return numbers.map { .init(call: $0, kind: .full) }
  }

  /// All points at the steps in which a new SQLite file gets its write-ahead log, by way of a rollback journal.
  var beginnings: [FaultyWrites.Point] {
    let journals = calls.indices.filter { calls[$0].file.hasSuffix("-journal") }
    // The page itself is written between the steps of the journal.
    let numbers = Set(journals.flatMap { [$0, $0 + 1] }).sorted().filter(calls.indices.contains)
    return numbers.flatMap { index in
      [.torn, .after].map { FaultyWrites.Point(call: calls[index].number, kind: $0) }
    }
  }

  /// The points around the end of every transaction: the frame's header and page missing, cut in half, and complete.
  var boundaries: [FaultyWrites.Point] {
    commits.flatMap { commit in
      [
        .init(call: commit.number, kind: .before), .init(call: commit.number + 1, kind: .torn),
        .init(call: commit.number + 1, kind: .after),
      ]
    }
  }

  /// The calls that change the files themselves: syncs, renames, removals, and writes of a checkpoint.
  var steps: [Call] { calls.filter { $0.name != "pwrite" || !$0.file.hasSuffix("-wal") } }

  /// Returns all ``boundaries`` and further points drawn with `random`, `count` in total.
  func points(_ count: Int, using random: inout SeededGenerator) -> [FaultyWrites.Point] {
    var points = boundaries
    let kinds: [FaultyWrites.Point.Kind] = [.before, .torn, .after]
    while points.count < count {
      let call = random.oneIn(3) ? random.pick(steps) : random.pick(calls)
      points.append(.init(call: call.number, kind: random.pick(kinds)))
    }
    return points
  }
}
