import PeerClient
import Testing

@Suite("Names that look alike") struct LookAlikeTests {
  @Test(
    "other letters of one shape are noticed, other names and other cases are not",
    arguments: [
      ("studio", "ѕtudio", true), ("studio", "studi0", true), ("laptop", "1aptop", true), ("studio", "Studio", false),
      ("studio", "studіo", true), ("studio", "studιo", true), ("mini", "mіnі", true), ("studіo", "studιo", true),
      ("studio", "studio", false), ("studio", "attic", false), ("", "", false),
    ])
  func confusable(one: String, other: String, isConfusable: Bool) {
    #expect(LookAlike.areConfusable(one, other) == isConfusable)
    #expect(LookAlike.areConfusable(other, one) == isConfusable)
  }
}
