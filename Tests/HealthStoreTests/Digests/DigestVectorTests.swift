import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import Testing
import TestSupport

/// Tests with the vectors in `docs/protocol/digest.md`, and against `digest.py` beside it, which shares no code with
/// the product.
@Suite struct DigestVectorTests {
  private static let documents = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/protocol").path

  private func lines(of text: String) throws -> [ChangeLine] {
    var decoder = ChangeLineDecoder()
    return try Data((text + "\n").utf8).withUnsafeBytes { try decoder.decode($0) }
  }

  @Test func theVectorsOfTheSpecificationHold() async throws {
    let page = try String(contentsOfFile: Self.documents + "/digest.md", encoding: .utf8)
    let json = try #require(page.split(separator: "```json\n").last?.split(separator: "```").first)
    let fixture = try StoreFixture()
    for line in try lines(of: String(json)) {
      switch line {
      case .added(let sample, _, _): try await fixture.store.add(sample)
      case .deleted(let tombstone): try await fixture.store.apply(ChangeBatch(deletions: [tombstone]))
      default: Issue.record("\(line)")
      }
    }
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `HK") }.map { row in
      row.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
    }
    let deep = try await fixture.store.digests.deep().record
    let said = deep.types.flatMap { type in
      type.months.map { month in
        [
          type.type.rawValue, "\(month.month)", "\(month.samples.count)", month.samples.hex,
          "\(month.tombstones.count)", month.tombstones.hex, SetDigest(sum: month.contents ?? 0).hex,
        ]
      }
    }
    #expect(rows.count == 2)
    #expect(said == rows)
    #expect(try await fixture.store.digests.current().record == deep.withoutContents)
  }

  /// The samples include every kind of payload, extreme instants, and unusual texts and numbers.
  @Test(.enabled(if: Python.isAvailable), .timeLimit(.minutes(5)), arguments: [1, 2] as [UInt64])
  func pythonAgrees(seed: UInt64) async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: seed)
    let samples = maker.samples(1_500) + (seed == 1 ? SampleMaker.edgeCases : [])
    try await fixture.store.apply(ChangeBatch(additions: samples))
    try await fixture.store.apply(
      ChangeBatch(deletions: samples.prefix(200).map { $0.tombstone() } + [maker.steps(at: 3).tombstone()]))
    var feed: [UInt8] = []
    for change in try await fixture.store.allChanges() {
      switch change {
      case .added(let sample): try ChangeLineEncoder().encode(.added(sample), into: &feed)
      case .deleted(let tombstone): try ChangeLineEncoder().encode(.deleted(tombstone), into: &feed)
      }
    }
    let path = fixture.directory.path("feed.ndjson")
    try Data(feed).write(to: URL(filePath: path))
    let output = try await Python.run([Self.documents + "/digest.py", "--deep"], input: path)
    let theirs = try JSONDecoder().decode([Row].self, from: output)
    let ours = try await fixture.store.digests.deep().record
    #expect(ours.types.reduce(0) { $0 + $1.months.count } == theirs.count)
    // Texts of two spellings are one key to Swift.
    let byBytes = Dictionary(grouping: theirs) { Array($0.type.utf8) }
    for type in ours.types {
      for month in type.months {
        let row = byBytes[Array(type.type.rawValue.utf8)]?.first { $0.month == "\(month.month)" }
        let place: Comment = "seed \(seed), \(type.type) \(month.month)"
        #expect(row?.samples == month.samples, place)
        #expect(row?.tombstones == month.tombstones, place)
        #expect(row?.contents == month.contents, place)
      }
    }
  }

  private struct Row: Decodable {
    var type: String
    var month: String
    var samples: SetDigest?
    var tombstones: SetDigest?
    var contents: UInt128?

    init(from decoder: any Decoder) throws {
      var row = try decoder.unkeyedContainer()
      type = try row.decode(String.self)
      month = try row.decode(String.self)
      samples = SetDigest(count: try row.decode(Int.self), hex: try row.decode(String.self))
      tombstones = SetDigest(count: try row.decode(Int.self), hex: try row.decode(String.self))
      contents = SetDigest(count: 0, hex: try row.decode(String.self))?.sum
    }
  }
}

extension RecordDigest {
  var withoutContents: RecordDigest {
    var digest = self
    for type in digest.types.indices {
      for month in digest.types[type].months.indices { digest.types[type].months[month].contents = nil }
    }
    return digest
  }
}

private enum Python {
  static let isAvailable = (try? launch(["-c", ""], input: "/dev/null")) != nil

  private static func launch(_ arguments: [String], input: String) throws -> (Process, Pipe) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3"] + arguments
    process.standardInput = FileHandle(forReadingAtPath: input)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    return (process, pipe)
  }

  /// Runs a script and returns its output.
  static func run(_ arguments: [String], input: String) async throws -> Data {
    let (process, pipe) = try launch(arguments, input: input)
    let data = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: pipe.fileHandleForReading.readDataToEndOfFile()) }
    }
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return data
  }
}
