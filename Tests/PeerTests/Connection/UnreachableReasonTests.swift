import Testing

@testable import PeerClient

@Suite struct UnreachableReasonTests {
  @Test(
    "what is said to do about a machine that cannot be reached fits the reason",
    arguments: [
      (UnreachableReason.noNetwork, "connect this machine"), (UnreachableReason.noAddress, "how the name is written"),
      ("connection refused: nothing listens on that port", "`hpeer serve` runs there"),
    ])
  func advice(reason: String, advice: String) {
    let text = PeerError.unreachable(endpoint: "studio:8737", reason: reason).description
    #expect(text.hasPrefix("Nothing could be reached at studio:8737 (\(reason)): "))
    #expect(text.contains(advice) && text.hasSuffix("."), "\(text)")
  }
}
