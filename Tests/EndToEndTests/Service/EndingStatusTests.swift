import Foundation
import Testing

/// Tests of the expiry of pairings in `hpeer status`, with a shifted clock.
@Suite(
  .timeLimit(.minutes(5)), .enabled(if: Faketime.isAvailable, "faketime is not installed: scripts/setup --tests"))
struct EndingStatusTests {
  private func endings(_ host: Host, days: Int) async throws -> (text: String, kinds: [String], areOver: [Bool]) {
    var later = host
    later.prefix = Faketime.prefix("+\(days)d")
    let json = try await later.run("status", "--json").json()
    let all = try #require(json["endings"] as? [[String: Any]])
    let text = try await later.run("status").output
    return (text, all.compactMap { $0["kind"] as? String }, all.compactMap { $0["isOver"] as? Bool })
  }

  @Test("nothing of a new pairing; in its last week, on both sides, with the command; and after its end")
  func pairing() async throws {
    let homes = try await PairedHomes(export: .small)
    for (host, kind) in [(homes.studio, "client"), (homes.laptop, "server")] {
      #expect(try await endings(host, days: 10).kinds == [])
      let soon = try await endings(host, days: 26)
      #expect(soon.kinds == [kind] && soon.areOver == [false])
      #expect(soon.text.contains("hpeer pull"), "\(soon.text)")
      let over = try await endings(host, days: 32)
      #expect(over.kinds == [kind] && over.areOver == [true])
      #expect(over.text.contains("hpeer pair"), "\(over.text)")
    }
  }
}
