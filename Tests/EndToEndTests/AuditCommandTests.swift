import Foundation
import HealthStore
import Testing

/// Tests of the audit log on the command line.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AuditCommandTests {
  private let scratch: Scratch
  private var home: Host { scratch.host("home") }

  init() throws {
    scratch = try Scratch()
  }

  /// Each import records its start and its end.
  @Test("old events are removed by hand, and what remains can be verified")
  func pruning() async throws {
    for _ in 0..<2 { #expect(try await home.run("import", SampleExport.small.path).status == 0) }
    let young = try await home.run("audit", "prune")
    #expect(young.status == 0)
    #expect(young.errors.contains("No event is older than 365 days."))
    let dry = try await home.run("audit", "prune", "--older-than", "0", "--dry-run")
    #expect(dry.errors.hasPrefix("4 events up to "))
    #expect(dry.errors.contains("would be removed"))
    #expect(try await home.run("audit").output.split(separator: "\n").count == 4)
    #expect(try await home.run("audit", "prune", "--older-than", "0").errors.contains("were removed"))
    let verified = try await home.run("audit", "verify")
    #expect(verified.status == 0)
    #expect(verified.output.contains("1 event. 4 older events had been pruned before."))
    #expect(try await home.run("audit").output.contains("audit.pruned"))
    #expect(try await home.run("audit", "prune", "--older-than", "-1").status == 2)
  }

  @Test("an event that was changed is named, and nothing is pruned any more")
  func tampering() async throws {
    for _ in 0..<3 { #expect(try await home.run("import", SampleExport.small.path).status == 0) }
    guard try await home.sh("command -v sqlite3").status == 0 else { return }
    let change = "UPDATE audit SET detail = '{}' WHERE id = 2; DELETE FROM audit WHERE id = 3"
    #expect(try await home.sh("sqlite3 '\(home.home)/store.sqlite' \"\(change)\"").status == 0)
    let verified = try await home.run("audit", "verify")
    #expect(verified.status == 10)
    #expect(verified.errors.contains("event 2 was changed; event 3 is missing"))
    let pruned = try await home.run("audit", "prune", "--older-than", "0")
    #expect(pruned.status == 10)
    #expect(try await home.run("audit").output.split(separator: "\n").count == 5)
  }

  @Test("serving removes what is too old")
  func serving() async throws {
    for _ in 0..<2 { #expect(try await home.run("import", SampleExport.small.path).status == 0) }
    let (server, _) = try await home.serve(["--port", "0", "--no-advertise", "--audit-days", "365"])
    server.send(SIGINT)
    #expect(try await server.outcome().status == 0)
    #expect(try await home.run("audit").output.split(separator: "\n").count == 6)
    #expect(try await home.run("serve", "--audit-days", "-1").status == 2)
  }

  @Test("reads that follow one another are one line with their number, also before their minute is over")
  func counted() async throws {
    let store = try HealthStore(directory: home.home)
    for (elapsed, count) in [5, 1_000, 2_000].enumerated() {
      let event = AuditEvent(.dataRead, ["peer": "laptop", "id": "8fe69348", "count": String(count)])
      try await store.audit.record(AuditRead(event, by: "8fe69348", at: .init(session: 1, elapsed: Int64(elapsed))))
    }
    for isSealed in [false, true] {
      if isSealed { try await store.audit.record(AuditEvent(.serverStopped)) }
      let lines = try await home.run("audit").output.split(separator: "\n")
      #expect(lines.count == (isSealed ? 3 : 2))
      #expect(lines[0].hasSuffix("data.read          count=5 id=8fe69348 peer=laptop"), "\(lines[0])")
      #expect(lines[1].hasSuffix("data.read          count=3000 id=8fe69348 peer=laptop 2 times"), "\(lines[1])")
      let objects = try await home.run("audit", "--json").output.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
      }
      #expect(objects.map { $0["times"] as? Int } == [1, 2] + (isSealed ? [1] : []))
      #expect(objects[1]["id"] as? Int == (isSealed ? 2 : nil))
      #expect(try await home.run("audit", "verify").status == 0)
    }
  }
}
