import Testing

@testable import Terminal

@Suite struct HumanFormatTests {
  @Test(arguments: [
    (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (1_204_331, "1,204,331"), (-1234, "-1,234"),
    (Int.max, "9,223,372,036,854,775,807"), (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func counts(_ value: Int, _ text: String) {
    #expect(HumanFormat.count(value) == text)
  }

  @Test func countsAgreeWithTheirNoun() {
    #expect(HumanFormat.count(1, "sample") == "1 sample")
    #expect(HumanFormat.count(0, "sample") == "0 samples")
    #expect(HumanFormat.count(1200, "entry", "entries") == "1,200 entries")
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (1234, "1.23 kB"), (9_994, "9.99 kB"), (9_996, "10.0 kB"),
    (12_400_000, "12.4 MB"), (99_960, "100 kB"), (999_499, "999 kB"), (999_500, "1.00 MB"),
    (116_000_000_000, "116 GB"), (-1500, "-1.50 kB"), (Int.max, "9.22 EB"), (Int.min, "-9.22 EB"),
  ])
  func byteSizes(_ value: Int, _ text: String) {
    #expect(HumanFormat.bytes(value) == text)
  }

  @Test(arguments: [
    (0.0, "0.0/s"), (3.44, "3.4/s"), (9.96, "10/s"), (999.6, "1,000/s"), (1234, "1,234/s"), (184_237, "184,200/s"),
    (184_250, "184,300/s"), (1_204_331, "1,204,000/s"), (-5, "0.0/s"), (.nan, "0.0/s"),
    (.infinity, "1,000,000,000,000,000,000/s"),
  ])
  func rates(_ value: Double, _ text: String) {
    #expect(HumanFormat.rate(perSecond: value) == text)
  }

  @Test func byteRates() {
    #expect(HumanFormat.byteRate(perSecond: 12_400_000) == "12.4 MB/s")
  }

  @Test(arguments: [
    (Duration.zero, "0 ms"), (.milliseconds(35), "35 ms"), (.milliseconds(99.6), "0.1 s"),
    (.milliseconds(400), "0.4 s"),
    (.milliseconds(9_940), "9.9 s"), (.milliseconds(9_960), "10 s"), (.seconds(42), "42 s"),
    (.milliseconds(59_600), "1 min"), (.seconds(72), "1 min 12 s"), (.seconds(3599.7), "1 h"),
    (.seconds(7_500), "2 h 5 min"), (.seconds(273_600), "3 d 4 h"), (.seconds(-4), "0 ms"),
  ])
  func durations(_ value: Duration, _ text: String) {
    #expect(HumanFormat.duration(value) == text)
  }

  @Test(arguments: [
    (Duration.seconds(252), "4:12"), (.zero, "0:00"), (.milliseconds(1), "0:01"), (.milliseconds(59_001), "1:00"),
    (.seconds(3872), "1:04:32"), (.seconds(-1), "0:00"),
  ])
  func countdowns(_ value: Duration, _ text: String) {
    #expect(HumanFormat.countdown(value) == text)
  }

  private static let texts: [(Double, String)] = [
    (72, "72"), (5.23, "5.23"), (28.299999999999997, "28.3"), (98.00000000000001, "98"), (-1.5, "-1.5"), (0, "0"),
    (-0.0, "0"), (2.4e-6, "0.0000024"), (-0.00004, "-0.00004"), (1e-9, "0.000000001"), (1e300, "1e+300"),
    (1e-300, "1e-300"), (.infinity, "inf"), (.nan, "nan"), (123_456_789.125, "123456789.125"),
  ]

  @Test(arguments: [(71_178.8, "71,178.8"), (-1_234_567, "-1,234,567"), (999.5, "999.5"), (1e300, "1e+300")])
  func groups(_ value: Double, _ text: String) {
    #expect(HumanFormat.grouped(value) == text)
  }

  @Test(arguments: texts)
  func numbers(_ value: Double, _ text: String) {
    #expect(HumanFormat.number(value) == text)
  }
}
