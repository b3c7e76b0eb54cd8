import Testing

@testable import HealthModel

@Suite struct SampleTypeCatalogueTests {
  private let catalogue = SampleTypeCatalogue.healthKit

  @Test func knowsWhatHealthKitCallsCommonTypes() throws {
    let heartRate = try #require(catalogue[SampleType("HKQuantityTypeIdentifierHeartRate")])
    #expect(heartRate.shortName == "heartRate")
    #expect(heartRate.kind == .quantity)
    #expect(heartRate.canonicalUnit == "count/min")
    #expect(catalogue[SampleType("HKCategoryTypeIdentifierSleepAnalysis")]?.kind == .category)
    #expect(catalogue[.workout]?.kind == .workout)
    #expect(catalogue[.activitySummary]?.kind == .activitySummary)
    #expect(catalogue[SampleType("HKQuantityTypeIdentifierStepCount")]?.aggregation == .cumulative)
  }

  @Test func everyRowOfTheTableIsAnEntryAndNamesAreUnique() {
    let rows = String(decoding: PackageResources.sample_types_tsv, as: UTF8.self).split(whereSeparator: \.isNewline)
    #expect(catalogue.entries.count == rows.count - 1)
    #expect(Set(catalogue.entries.map(\.type)).count == catalogue.entries.count)
    #expect(Set(catalogue.entries.map { $0.shortName.lowercased() }).count == catalogue.entries.count)
  }

  @Test func everyQuantityHasAUnitThatConversionUnderstands() {
    for entry in catalogue.entries where entry.kind == .quantity {
      guard let unit = entry.canonicalUnit else {
        Issue.record("\(entry.shortName) has no unit")
        continue
      }
      // Temperatures are no products, and an effort score converts to nothing else.
      if unit == "degC" || unit == "appleEffortScore" { continue }
      #expect(UnitConversion.convert(1, from: "\(unit)·count", to: unit) == 1, "\(unit)")
    }
  }

  @Test func findsTypesAsPeopleWriteThem() {
    let steps = SampleType("HKQuantityTypeIdentifierStepCount")
    #expect(catalogue.type(named: "stepCount") == steps)
    #expect(catalogue.type(named: "STEPCOUNT") == steps)
    #expect(catalogue.type(named: steps.rawValue) == steps)
    #expect(
      catalogue.type(named: "HKQuantityTypeIdentifierOfTomorrow")?.rawValue == "HKQuantityTypeIdentifierOfTomorrow")
    #expect(catalogue.type(named: "stepcuont") == nil)
    #expect(catalogue.type(named: "") == nil)
  }

  @Test func correlationsTakeTheirMembersAlong() throws {
    let (pressure, food) = (try #require(catalogue.type(named: "bloodPressure")), catalogue.type(named: "food"))
    #expect(
      [pressure, pressure].withMembers.map(\.shortName)
        == ["bloodPressure", "bloodPressureSystolic", "bloodPressureDiastolic"])
    let eaten = catalogue.members(of: try #require(food)).map(\.shortName)
    #expect(Set(["dietaryIron", "dietaryWater", "dietaryCaffeine"]).isSubset(of: eaten))
    #expect(eaten.allSatisfy { $0.hasPrefix("dietary") })
    #expect([SampleType("HKQuantityTypeIdentifierStepCount"), SampleType("x")].withMembers.count == 2)
  }

  @Test func suggestsTheNearestNames() {
    #expect(catalogue.suggestions(for: "hartrate").first == "heartRate")
    #expect(catalogue.suggestions(for: "qqqqqqqqqqqq").isEmpty)
  }

  @Test func anUnknownTypeIsItsOwnShortName() {
    #expect(SampleType("HKDataTypeOfTomorrow").shortName == "HKDataTypeOfTomorrow")
  }
}

@Suite struct CategoryValueNamesTests {
  private let names = CategoryValueNames.healthKit
  private let sleep = SampleType("HKCategoryTypeIdentifierSleepAnalysis")

  @Test func knownNamesBecomeTheirIntegers() {
    let value = names.value(exported: "HKCategoryValueSleepAnalysisAsleepREM", type: sleep)
    #expect(value == CategoryValue(value: 5))
    #expect(names.exported(value, type: sleep) == "HKCategoryValueSleepAnalysisAsleepREM")
  }

  @Test func olderSpellingsKeepTheirNames() {
    let value = names.value(exported: "HKCategoryValueSleepAnalysisAsleep", type: sleep)
    #expect(value == CategoryValue(value: 1, name: "HKCategoryValueSleepAnalysisAsleep"))
  }

  @Test(arguments: [
    "HKCategoryValueSleepAnalysisInBed", "HKCategoryValueSleepAnalysisAsleep", "HKCategoryValueNotApplicable", "5", "0",
    "-7", "007", "+5", "", "something new", "9223372036854775807", "9223372036854775808", "😴",
  ])
  func everyTextIsPrintedAsItWasRead(text: String) {
    for type in [sleep, SampleType("HKCategoryTypeIdentifierAppleStandHour"), SampleType("HKCategoryTypeOfTomorrow")] {
      #expect(names.exported(names.value(exported: text, type: type), type: type) == text)
    }
  }

  @Test func everyNameInTheTableIsReadBack() {
    let rows = String(decoding: PackageResources.category_values_tsv, as: UTF8.self).split(whereSeparator: \.isNewline)
    for row in rows.dropFirst() {
      let fields = row.split(separator: "\t").map(String.init)
      let value = names.value(exported: fields[2], type: sleep)
      #expect(value.value == Int64(fields[1]))
      #expect(names.exported(value, type: sleep) == fields[2])
    }
  }

  @Test func aSampleWithoutAValuePrintsNone() {
    #expect(names.exported(CategoryValue(value: nil), type: sleep) == nil)
  }

  @Test func integersWithoutANamePrintAsSuch() {
    #expect(names.exported(CategoryValue(value: 99), type: sleep) == "99")
    #expect(names.name(of: 99, type: sleep) == nil)
    #expect(names.name(of: 0, type: sleep) == "HKCategoryValueSleepAnalysisInBed")
  }
}

@Suite struct WorkoutActivityTypeTests {
  @Test func namesAndIntegersAgree() {
    #expect(WorkoutActivityType(exported: "HKWorkoutActivityTypeRunning") == .value(37))
    #expect(WorkoutActivityType.value(37).exported == "HKWorkoutActivityTypeRunning")
  }

  @Test func whatIsNotInTheTableIsKept() {
    #expect(
      WorkoutActivityType(exported: "HKWorkoutActivityTypeOfTomorrow") == .name("HKWorkoutActivityTypeOfTomorrow"))
    #expect(WorkoutActivityType.value(9999).exported == "9999")
  }
}
