import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests of resources as other programs read them.
@Suite struct FHIRWriterTests {
  private var maker = SampleMaker(seed: 5)

  private mutating func sample(_ name: String, _ payload: Payload, seconds: Int64 = 0) -> Sample {
    var sample = maker.steps(at: 0)
    sample.type = SampleType(name)
    sample.payload = payload
    sample.start = Timestamp(microseconds: 1_718_440_200_250_000)
    sample.end = Timestamp(microseconds: sample.start.microseconds + seconds * 1_000_000)
    return sample
  }

  private func resource(
    _ sample: Sample, members: [Sample] = [], map: FHIRMap = .standard
  ) throws -> JSONValue {
    var writer = FHIRWriter(.lines, exported: sample.start, subject: .reference("Patient/ada"), map: map)
    var bytes: [UInt8] = []
    writer.begin(person: Person(), into: &bytes)
    #expect(try writer.append(sample, members: members, to: &bytes))
    return try JSONParser.parse(bytes[...])
  }

  private func codes(_ concept: JSONValue?) -> [String] {
    concept?["coding"]?.elements.compactMap { $0["code"]?.text } ?? []
  }

  @Test mutating func aHeartRateIsAVitalSign() throws {
    var rate = sample("HKQuantityTypeIdentifierHeartRate", .quantity(Quantity(72.5, "count/min")))
    rate.created = rate.end
    rate.metadata = ["HKTimeZone": "Asia/Kathmandu"]
    rate.device = Device(name: "Apple Watch", model: "Watch")
    let resource = try resource(rate)
    #expect(resource["id"] == .string(rate.uuid.uuidString.lowercased()))
    #expect(resource["status"] == .string("final"))
    #expect(resource["meta"]?["profile"] == .array([.string("http://hl7.org/fhir/StructureDefinition/heartrate")]))
    #expect(resource["category"]?.elements.flatMap { codes($0) } == ["vital-signs"])
    #expect(codes(resource["code"]) == ["8867-4", "HKQuantityTypeIdentifierHeartRate"])
    #expect(resource["subject"]?["reference"] == .string("Patient/ada"))
    // Where it was measured, to the millisecond.
    #expect(resource["effectiveDateTime"] == .string("2024-06-15T14:15:00.250000+05:45"))
    #expect(resource["issued"] == .string("2024-06-15T14:15:00.250000+05:45"))
    #expect(
      resource["valueQuantity"]
        == .object([
          "value": .number(72.5), "unit": .string("count/min"), "system": .string("http://unitsofmeasure.org"),
          "code": .string("/min"),
        ]))
    #expect(resource["device"]?["display"] == .string("iPhone"))
    #expect(resource["contained"]?.elements.first?["modelNumber"] == .string("Watch"))
    let identifiers = resource["identifier"]?.elements.compactMap { $0["value"]?.text }
    #expect(identifiers == ["urn:uuid:\(rate.uuid.uuidString.lowercased())", rate.uuid.uuidString])
  }

  @Test mutating func valuesAreInTheUnitOfTheirCode() throws {
    let expected: [(String, Quantity, Double, String)] = [
      ("OxygenSaturation", Quantity(0.07, "%"), 7, "%"), ("BodyMass", Quantity(10, "lb"), 4.5359237, "kg"),
      ("BodyMassIndex", Quantity(22.5, "count"), 22.5, "kg/m2"), ("BodyTemperature", Quantity(98.6, "degF"), 37, "Cel"),
      ("StepCount", Quantity(12, "count"), 12, "{steps}"),
      ("EnvironmentalAudioExposure", Quantity(80, "dBASPL"), 80, "dB[SPL]"),
      ("DistanceWalkingRunning", Quantity(1.5, "km"), 1500, "m"),
    ]
    for (name, quantity, value, code) in expected {
      let shown = try resource(sample("HKQuantityTypeIdentifier\(name)", .quantity(quantity)))["valueQuantity"]
      #expect(abs((shown?["value"]?.double ?? .nan) - value) < 1e-9, "\(name)")
      #expect(shown?["code"] == .string(code))
    }
  }

  @Test mutating func codesAreLeftOutWhereTheUnitIsNotTheirs() throws {
    let resource = try resource(sample("HKQuantityTypeIdentifierHeartRate", .quantity(Quantity(1, "bpm"))))
    #expect(codes(resource["code"]) == ["HKQuantityTypeIdentifierHeartRate"])
    #expect(resource["meta"] == nil)
    #expect(resource["valueQuantity"] == .object(["value": .integer(1), "unit": .string("bpm")]))
  }

  @Test(arguments: [(Double.nan, "not-a-number"), (.infinity, "positive-infinity"), (-.infinity, "negative-infinity")])
  func whatIsNoNumberIsAbsent(number: Double, reason: String) throws {
    var tests = self
    let sample = tests.sample("HKQuantityTypeIdentifierHeartRate", .quantity(Quantity(number, "count/min")))
    let resource = try resource(sample)
    #expect(codes(resource["dataAbsentReason"]) == [reason])
    #expect(resource["valueQuantity"] == nil)
  }

  @Test mutating func aStageOfSleepHasItsDuration() throws {
    let resource = try resource(
      sample("HKCategoryTypeIdentifierSleepAnalysis", .category(CategoryValue(value: 4)), seconds: 1800))
    #expect(codes(resource["valueCodeableConcept"]) == ["HKCategoryValueSleepAnalysisAsleepDeep"])
    #expect(resource["effectivePeriod"]?["end"] == .string("2024-06-15T09:00:00.250000Z"))
    let component = try #require(resource["component"]?.elements.first)
    #expect(codes(component["code"]) == ["93831-6"])
    #expect(component["valueQuantity"]?["value"] == .integer(30))
  }

  @Test mutating func aBloodPressureHasItsMembersInside() throws {
    let members = [("Systolic", 121.0), ("Diastolic", 80.0)].map { name, value in
      sample("HKQuantityTypeIdentifierBloodPressure\(name)", .quantity(Quantity(value, "mmHg")))
    }
    let pressure = sample(
      "HKCorrelationTypeIdentifierBloodPressure", .correlation(Correlation(members: members.map(\.reference))))
    let alone = sample("HKQuantityTypeIdentifierBloodPressureSystolic", .quantity(Quantity(130, "mmHg")))
    var writer = FHIRWriter(.lines, exported: pressure.start, subject: .reference("Patient/ada"))
    var bytes: [UInt8] = []
    writer.expect(pressure)
    var coder = ChangeCoder()
    for sample in members + [pressure, alone] { try coder.add(sample) }
    let page = try writer.append(coder.changes, to: &bytes)
    #expect(page.written == 3)
    #expect(page.omitted == 0)
    #expect(page.correlations == [pressure])
    #expect(try writer.append(pressure, members: members, to: &bytes))
    let reading = try SampleReading(bytes, .fhirResources)
    #expect(Set(reading.samples) == Set(members + [pressure, alone]))
    let lines = bytes.split(separator: 0x0A)
    #expect(lines.count == 2)
    let resource = try JSONParser.parse(lines[1])
    #expect(resource["component"]?.elements.map { $0["valueQuantity"]?["value"] } == [.integer(121), .integer(80)])
    #expect(resource["component"]?.elements.map { codes($0["code"])[0] } == ["8480-6", "8462-4"])
    // A member that is not there is said to be absent.
    let half = try self.resource(pressure, members: [members[0]])
    #expect(codes(half["component"]?.elements[1]["dataAbsentReason"]) == ["unknown"])
  }

  @Test mutating func theSubjectIsInABundle() throws {
    let id = try #require(UUID(uuidString: "3D2F0000-AAAA-4BBB-8CCC-000000000000"))
    var person = Person()
    person[.biologicalSex] = "HKBiologicalSexMale"
    person[.dateOfBirth] = "1986-05-17"
    var writer = FHIRWriter(.bundle, exported: Timestamp(seconds: 0), subject: .patient(id))
    var bytes: [UInt8] = []
    writer.begin(person: person, into: &bytes)
    #expect(try writer.append(maker.steps(at: 0), members: [], to: &bytes))
    writer.end(into: &bytes)
    let bundle = try JSONParser.parse(bytes[...])
    #expect(bundle["type"] == .string("collection"))
    let entries = bundle["entry"]?.elements ?? []
    #expect(entries.count == 2)
    #expect(entries[0]["resource"]?["gender"] == .string("male"))
    #expect(entries[0]["resource"]?["birthDate"] == .string("1986-05-17"))
    #expect(entries[1]["resource"]?["subject"]?["reference"] == entries[0]["fullUrl"])
  }

  @Test func referencesAreChecked() {
    #expect(FHIRWriter.isReference("Patient/123"))
    #expect(FHIRWriter.isReference("https://example.org/fhir/Patient/1"))
    for text in ["", "Patient 1", "Patient/\"", "é", String(repeating: "a", count: 2000)] {
      #expect(!FHIRWriter.isReference(text))
    }
  }
}
