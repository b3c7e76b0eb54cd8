import Diagnosis
import Testing

@Suite struct FindingTests {
  @Test func aRemedyIsRepeatedFromTheSecondFindingOnThatHasIt() {
    let findings = [
      Finding(.warning, "a", "One", remedy: "do this"), Finding(.ok, "b", "Two"),
      Finding(.blocking, "c", "Three", remedy: "do that"), Finding(.warning, "d", "Four", remedy: "do this"),
      Finding(.ok, "e", "Five"),
    ]
    #expect(findings.repeatRemedies == [false, false, false, true, false])
  }
}
