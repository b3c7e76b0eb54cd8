import TestSupport
import Testing

@testable import HealthModel

/// Tests of the texts that are part of identities and hints. Stored values were made with ICU's texts.
struct DecimalTextTests {
  @Test(arguments: [
    (0, "0.00E+00"), (-0.0, "-0.00E+00"), (1, "1.00E+00"), (-72.5, "-7.25E+01"), (1234.5, "1.23E+03"),
    (0.00012, "1.20E-04"), (9.995, "1.00E+01"), (999.5, "1.00E+03"), (1.015, "1.02E+00"), (1.025, "1.02E+00"),
    (1e300, "1.00E+300"), (.leastNonzeroMagnitude, "5.00E-324"),
  ])
  func text(_ value: Double, _ text: String) {
    #expect(DecimalText.rounded(value, digits: 3) == text)
  }

  @Test func itIsThatOfICU() {
    var generator = SeededGenerator(seed: 1)
    var values: [Double] = [.nan, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNormalMagnitude, 0x1p53 + 2]
    for _ in 0..<500 {
      let value = Double.random(in: 0..<1000, using: &generator)
      // As apps write them, halves, and any bits.
      values += [value, (value * 10).rounded() / 10, (value * 1000).rounded() / 1000, (value * 2000).rounded() / 2]
      values.append(-Double(bitPattern: .random(in: 0..<0x7FF0_0000_0000_0000, using: &generator)))
    }
    for value in values {
      for digits in [3, 5] {
        #expect(DecimalText.rounded(value, digits: digits) == DecimalText.formatted(value, digits: digits))
      }
    }
  }
}
