import Foundation
import Testing

/// Tests of a store with damaged pages: exit code 10 and a single sentence, and the file is left unchanged for
/// repair.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DamagedStoreTests {
  private static let pageSize = 4096

  /// Overwrites the middle of a store at rest. Returns the range of changed bytes.
  private func damage(_ host: Host) async throws -> Range<Int> {
    // What is still in the write-ahead log would hide the damage.
    let file = host.home + "/store.sqlite"
    let checkpoint = try await RunningCommand(["sqlite3", file, "PRAGMA wal_checkpoint(TRUNCATE)"]).outcome()
    try #require(checkpoint.output == "0|0|0\n", "\(checkpoint.output)\(checkpoint.errors)")
    let url = URL(fileURLWithPath: host.home + "/store.sqlite")
    var bytes = try Data(contentsOf: url)
    let pages = bytes.count / Self.pageSize
    // The tables' names and first pages come before; without them nothing can be opened.
    let range = pages / 2 * Self.pageSize..<pages * 9 / 10 * Self.pageSize
    bytes.replaceSubrange(range, with: repeatElement(0xAA, count: range.count))
    let handle = try FileHandle(forUpdating: url)
    try handle.write(contentsOf: bytes)
    try handle.close()
    return range
  }

  private func expectUntouched(_ host: Host, _ range: Range<Int>) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: host.home + "/store.sqlite"))
    #expect(bytes[range].allSatisfy { $0 == 0xAA }, "the damage was written over")
  }

  private func expectRefusal(_ outcome: Outcome) {
    #expect(outcome.status == 10, "\(outcome.status) \(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    #expect(outcome.errors.contains("damaged"), "\(outcome.errors)")
  }

  @Test("import, delete and show say so and leave it")
  func local() async throws {
    let scratch = try Scratch()
    let home = scratch.host("home")
    try await home.hold(.small)
    let range = try await damage(home)
    expectRefusal(try await home.run("import", SampleExport.smallLater.path))
    expectRefusal(try await home.run("show", "heartRate", "--limit", "5000"))
    expectRefusal(
      try await home.run("delete", "--type", "heartRate", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"))
    try expectUntouched(home, range)
  }

  @Test("a pull into it says so and leaves it")
  func client() async throws {
    let homes = try await PairedHomes(export: .small)
    let (_, port) = try await homes.serve()
    #expect(try await homes.laptop.run("pull", "--host", "127.0.0.1:\(port)").status == 0)
    #expect(try await homes.studio.run("import", SampleExport.smallLater.path).status == 0)
    let range = try await damage(homes.laptop)
    expectRefusal(try await homes.laptop.run("pull", "--full", "--host", "127.0.0.1:\(port)"))
    try expectUntouched(homes.laptop, range)
  }

  @Test("a server with it does not send what it cannot read, tells its owner, and stays up")
  func server() async throws {
    let homes = try await PairedHomes(export: .small)
    let range = try await damage(homes.studio)
    let (server, port) = try await homes.serve()
    for _ in 0..<2 {
      let pull = try await homes.laptop.run("pull", "--host", "127.0.0.1:\(port)")
      #expect([1, 5, 12].contains(pull.status), "\(pull.status) \(pull.errors)")
      #expect(pull.errors.split(separator: "\n").count == 1, "\(pull.errors)")
    }
    #expect(server.errors.contains("damaged"), "\(server.errors)")
    // What did arrive is what was sent before the damage.
    let arrived = try await homes.laptop.everything()
    #expect(arrived.samples.allSatisfy { homes.contents.samples[$0.key] == $0.value })
    try await server.end()
    try expectUntouched(homes.studio, range)
  }
}
