import Testing

@testable import HealthModel

@Suite struct UnitConversionTests {
  @Test(arguments: [
    (1.0, "km", "m", 1000.0), (1, "mi", "km", 1.609344), (72, "kg", "lb", 158.7328), (1, "st", "kg", 6.35029318),
    (98.6, "degF", "degC", 37), (0, "degC", "K", 273.15), (1, "kcal", "kJ", 4.184), (1, "Cal", "kcal", 1),
    (60, "count/min", "count/s", 1), (90, "mg/dL", "mmol<180.1558800000541>/L", 4.99567),
    (36, "km/hr", "m/s", 10), (45, "mL/min·kg", "L/min·kg", 0.045), (120, "mmHg", "kPa", 15.99868),
    (1, "%", "count", 1),
    (5, "mcg", "µg", 5), (5, "mcg", "\u{3BC}g", 5), (2, "\u{3BC}mol<10>/L", "mcg/L", 20), (2, "Hz", "count/min", 120),
    (90, "count/min", "Hz", 1.5),
  ])
  func converts(value: Double, from: String, to: String, expected: Double) throws {
    let result = try #require(UnitConversion.convert(value, from: from, to: to))
    #expect(abs(result - expected) <= 1e-5 * abs(expected))
  }

  @Test(arguments: [("kg", "m"), ("fathom", "m"), ("m", "fathom"), ("count/min", "m/min"), ("degC", "m"), ("IU", "mg")])
  func refusesOtherDimensions(from: String, to: String) {
    #expect(UnitConversion.convert(1, from: from, to: to) == nil)
  }

  @Test func molarUnitsArePeoples() {
    let glucose = SampleType("HKQuantityTypeIdentifierBloodGlucose")
    let unit = MolarUnit.long("mmol/L", of: glucose)
    #expect(unit == "mmol<180.1558800000541>/L" && MolarUnit.short(unit) == "mmol/L")
    #expect(MolarUnit.long("mg/dL", of: glucose) == "mg/dL" && MolarUnit.short("mg/dL") == "mg/dL")
    #expect(MolarUnit.long("mmol/L", of: SampleType("HKQuantityTypeIdentifierStepCount")) == "mmol/L")
    #expect(MolarUnit.short("a<b") == "a<b" && MolarUnit.short("") == "")
  }

  @Test func whatPeopleSayConverts() throws {
    let catalogue = SampleTypeCatalogue.healthKit
    let labelled = catalogue.entries.filter { EverydayUnit.of($0.type) != nil }
    #expect(labelled.count == 29 + 8)
    for entry in labelled {
      let (unit, own) = (try #require(EverydayUnit.of(entry.type)), try #require(entry.canonicalUnit))
      #expect(UnitConversion.convert(1, from: own, to: unit) != nil, "\(entry.shortName)")
    }
  }

  @Test func unknownUnitsConvertToThemselves() {
    #expect(UnitConversion.convert(3, from: "fathom", to: "fathom") == 3)
    #expect(UnitConversion.convert(3, from: "", to: "") == 3)
    #expect(UnitConversion.convert(3, from: "\u{3BC}\u{301}g", to: "g") == nil)
  }

  @Test func readingsInOtherUnitsAreEquivalent() {
    #expect(Quantity(5, "km").isEquivalent(to: Quantity(3.10686, "mi")))
    #expect(!Quantity(5, "km").isEquivalent(to: Quantity(3.1070, "mi")))
    #expect(!Quantity(5, "km").isEquivalent(to: Quantity(5, "kg")))
    #expect(Quantity(.nan, "km").isEquivalent(to: Quantity(.nan, "km")))
    #expect(Quantity(0, "km").isEquivalent(to: Quantity(0, "mi")))
  }
}
