import Foundation
import HealthOperations
import HealthStore
import PeerProtocol
import PeerTrust
import TestSupport
import Testing

@Suite struct ServerMetricsTests {
  @Test("what is said is in the format of Prometheus, and holds neither names nor secrets nor types")
  func text() async throws {
    let home = try TestHome()
    try await home.fill(12)
    let local = try await home.local(name: "marked-machine")
    try await local.registry.addServer(
      ServerRecord(
        id: #require(PeerID(hex: String(repeating: "ab", count: 16))), name: "marked-server",
        fingerprint: #require(Fingerprint(hex: String(repeating: "cd", count: 32))),
        credential: #require(BearerCredential(text: "marked-token")), host: "marked-host", port: 1,
        lastUsed: Date(timeIntervalSince1970: 1_700_000_000)))
    let text = await ServerMetrics(home.home, local, version: "1.2.3").text()
    for secret in ["marked", "HeartRate", "heartRate", "Watch", home.directory.path] { #expect(!text.contains(secret)) }
    var seen: Set<String> = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("# HELP ") || line.hasPrefix("# TYPE ") { continue }
      #expect(line.contains(#/^[a-z_]+(\{[a-z]+="[\w.]+"(,[a-z]+="[\w.]+")*\})? -?[\d.e+]+$/#), "\(line)")
      #expect(seen.insert(String(line.prefix { $0 != " " })).inserted, "\(line)")
    }
    #expect(text.contains("\nhpeer_samples 12\n") && text.contains("\nhpeer_locked 0\n"))
    #expect(text.contains(#"hpeer_peer_seen_timestamp_seconds{id="abababab",role="server"} 1700000000"#))
    #expect(text.contains("hpeer_certificate_expires_timestamp_seconds "))
  }
}
