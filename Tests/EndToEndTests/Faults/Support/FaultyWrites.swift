import Foundation
import TestSupport
import Testing

/// A library that ends or stops a process, or fills its disk, at a chosen one of the writes under its home.
enum FaultyWrites {
  /// Why processes cannot be ended at their writes here, or nil.
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

  /// Where a process meets its fault.
  struct Point: Hashable, CustomStringConvertible {
    enum Kind: String, CaseIterable {
      /// Killed just before the call, just after it, or when half of the bytes are written.
      case before, after, torn
      /// From this call on there is no room.
      case full
      /// Stopped just after this call and after each one that follows; SIGCONT lets it go on to the next.
      case hold
    }

    enum Counted: String {
      /// What is written under the home.
      case writes
      /// What is sent over TCP.
      case packets
      /// The ends of SQLite's transactions, each the last frame of its log: a header and a page. Threads that work
      /// beside each other share their writes out differently in each run, but each transaction has one end.
      case commits
    }

    /// Counted from 1.
    var call: Int
    var kind: Kind
    var counted = Counted.writes

    var description: String { "\(kind.rawValue) \(call) of the \(counted.rawValue)" }
  }

  /// What to add to the environment of a process.
  ///
  /// - Parameters:
  ///   - log: a file that gets a line for each call.
  ///   - condition: a file; calls count only while it is there.
  ///   - isHurried: sleeps take a hundredth of their time, and with them the wait for a lock.
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

/// The writes of one run, in order.
struct WriteLog {
  struct Call: Hashable {
    var number: Int
    var name: String
    var file: String
    /// Begins the frame that ends a transaction of SQLite's.
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

  /// The ``commits`` of transactions with many pages: the batches.
  var batches: [Call] {
    let numbers = [0] + commits.map(\.number)
    return zip(numbers, commits).filter { $1.number - $0 > 100 }.map { $1 }
  }

  /// What is written to a write-ahead log before any of it goes into the store: a power cut may take the end of it.
  var beforeCheckpoint: [Call] { Array(calls.prefix { $0.file != "store.sqlite" }) }

  /// Calls that need room: the first of each file, and others drawn with `random`, `count` in all.
  func allocations(_ count: Int, using random: inout SeededGenerator) -> [FaultyWrites.Point] {
    let writes = calls.filter { ["pwrite", "write", "mkdir"].contains($0.name) }
    var first: [String: Call] = [:]
    for write in writes where first[write.file] == nil { first[write.file] = write }
    var numbers = first.values.map(\.number).sorted()
    while numbers.count < count { numbers.append(random.pick(writes).number) }
    return numbers.map { .init(call: $0, kind: .full) }
  }

  /// How a new file of SQLite's comes to have its write-ahead log: through a rollback journal. Each step, each way.
  var beginnings: [FaultyWrites.Point] {
    let journals = calls.indices.filter { calls[$0].file.hasSuffix("-journal") }
    // The page itself is written between the steps of the journal.
    let numbers = Set(journals.flatMap { [$0, $0 + 1] }).sorted().filter(calls.indices.contains)
    return numbers.flatMap { index in
      [.torn, .after].map { FaultyWrites.Point(call: calls[index].number, kind: $0) }
    }
  }

  /// Around the end of every transaction: the frame's header and its page missing, cut in half, and whole.
  var boundaries: [FaultyWrites.Point] {
    commits.flatMap { commit in
      [
        .init(call: commit.number, kind: .before), .init(call: commit.number + 1, kind: .torn),
        .init(call: commit.number + 1, kind: .after),
      ]
    }
  }

  /// Where the files themselves change: syncs, renames, removals, and what a checkpoint writes back.
  var steps: [Call] { calls.filter { $0.name != "pwrite" || !$0.file.hasSuffix("-wal") } }

  /// All ``boundaries`` and, drawn with `random`, others up to `count` in all.
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
