import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests that content that FHIR can represent is read back exactly.
@Suite struct FHIRRoundTripTests {
  private func expectRoundTrip(
    _ samples: [Sample], _ form: FHIRWriter.Form, chunkSize: Int = 1 << 16, leftOut: Int
  ) throws {
    var text = SampleText()
    let written = try text.write(fhir: samples, form)
    #expect(samples.count - written.count == leftOut)
    let reading = try SampleReading(
      text.bytes, form == .bundle ? .fhirBundle : .fhirResources, chunkSize: chunkSize)
    #expect(reading.report.isComplete)
    #expect(reading.report.skipped == [:])
    #expect(reading.samples.count == written.count)
    for (before, after) in zip(written, reading.samples) {
      let (before, after) = (try before.text(), try after.text())
      if before != after {
        Issue.record("\(String(decoding: before, as: UTF8.self)) became \(String(decoding: after, as: UTF8.self))")
      }
    }
  }

  @Test(arguments: FHIRWriter.Form.allCases)
  func everyTypeOfTheCatalogue(form: FHIRWriter.Form) throws {
    try expectRoundTrip(SampleMaker.catalogue, form, leftOut: 1)
  }

  /// The exceptions are instants outside years of four digits, tracks, and content larger than a FHIR string.
  @Test(arguments: FHIRWriter.Form.allCases)
  func everyOddity(form: FHIRWriter.Form) throws {
    let samples = SampleMaker.edgeCases
    var text = SampleText()
    let written = try text.write(fhir: samples, form)
    let leftOut = samples.count - written.count
    #expect(leftOut < samples.count / 2)
    try expectRoundTrip(samples, form, leftOut: leftOut)
  }

  @Test(arguments: [1, 7, 1000])
  func chunksOfAnySize(chunkSize: Int) throws {
    var maker = SampleMaker(seed: 21)
    var text = SampleText()
    let samples = try text.write(fhir: maker.samples(80), .lines)
    for form in FHIRWriter.Form.allCases { try expectRoundTrip(samples, form, chunkSize: chunkSize, leftOut: 0) }
  }

  /// Values of every size are kept, as fractions in `%` and in their original unit.
  @Test func numbersAreKept() throws {
    var maker = SampleMaker(seed: 22)
    let units = [
      ("OxygenSaturation", ["%"]), ("BodyMass", ["kg", "lb", "st"]), ("DistanceWalkingRunning", ["m", "km", "mi"]),
      ("BloodGlucose", ["mg/dL", "mmol<180.1558800000541>/L"]), ("HeartRate", ["count/min", "m"]),
    ]
    var samples: [Sample] = []
    for (name, units) in units {
      for unit in units {
        for _ in 0..<200 {
          var sample = maker.steps(at: 0)
          sample.type = SampleType("HKQuantityTypeIdentifier\(name)")
          let scale = maker.random.pick([1e-9, 0.001, 1, 1e6, 1e300])
          sample.payload = .quantity(Quantity(Double.random(in: 0...1, using: &maker.random) * scale, unit))
          samples.append(sample)
        }
      }
    }
    try expectRoundTrip(samples, .lines, leftOut: 0)
  }

  @Test func aFileIsRecognisedByItsContent() throws {
    for form in FHIRWriter.Form.allCases {
      var text = SampleText()
      _ = try text.write(fhir: SampleMaker.catalogue, form)
      #expect(
        SampleFile.Format(FileHead(Array(text.bytes.prefix(4096))))
          == (form == .bundle ? .fhirBundle : .fhirResources))
      let file = SampleFile(format: form == .bundle ? .fhirBundle : .fhirResources, bytes: text.bytes)
      #expect(try file.person()[.dateOfBirth] == "1986-05-17")
      #expect(try file.person()[.bloodType] == "HKBloodTypeONegative")
    }
    let patient = Array("{\n  \"id\": \"a\",\n  \"resourceType\" : \"Patient\"}".utf8)
    #expect(SampleFile.Format(FileHead(patient)) == .fhirResources)
  }
}
