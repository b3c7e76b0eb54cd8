import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests with every element and attribute of the document type (`HealthKit Export Version: 14`), each with a unique
/// text that must be found in the result.
@Suite struct DocumentTypeTests {
  /// The elements' children, including those that real exports have beyond the document type.
  private static let children: [String: [String]] = [
    "HealthData": [
      "ExportDate", "Me", "Record", "Correlation", "Workout", "ActivitySummary", "ClinicalRecord", "Audiogram",
      "VisionPrescription",
    ],
    "Record": ["MetadataEntry", "HeartRateVariabilityMetadataList"],
    "HeartRateVariabilityMetadataList": ["InstantaneousBeatsPerMinute"],
    "Correlation": ["MetadataEntry", "Record"],
    "Workout": ["MetadataEntry", "WorkoutEvent", "WorkoutActivity", "WorkoutStatistics", "WorkoutRoute"],
    "WorkoutActivity": ["MetadataEntry", "WorkoutEvent", "WorkoutStatistics"], "WorkoutEvent": ["MetadataEntry"],
    "WorkoutRoute": ["MetadataEntry", "FileReference"], "Audiogram": ["MetadataEntry", "SensitivityPoint"],
    "VisionPrescription": ["RightEye", "LeftEye", "Attachment", "MetadataEntry"],
  ]

  private static let common = ["sourceName", "sourceVersion", "device", "creationDate", "startDate", "endDate"]
  private static let eye = [
    "sphere", "cylinder", "axis", "add", "vertex", "prismAmount", "prismAngle", "farPD", "nearPD", "baseCurve",
    "diameter",
  ].flatMap { [$0, "\($0)Unit"] }
  private static let ear = ["Value", "Unit", "Masked", "ClampingRangeLowerBound", "ClampingRangeUpperBound"]

  private static let attributes: [String: [String]] = [
    "HealthData": ["locale"], "ExportDate": ["value"],
    "Me": ["DateOfBirth", "BiologicalSex", "BloodType", "FitzpatrickSkinType", "CardioFitnessMedicationsUse"].map {
      "HKCharacteristicTypeIdentifier\($0)"
    },
    "Record": ["type", "unit", "value"] + common, "Correlation": ["type"] + common,
    "Workout": [
      "workoutActivityType", "duration", "durationUnit", "totalDistance", "totalDistanceUnit", "totalEnergyBurned",
      "totalEnergyBurnedUnit",
    ] + common,
    "WorkoutActivity": ["uuid", "startDate", "endDate", "duration", "durationUnit"],
    "WorkoutEvent": ["type", "date", "duration", "durationUnit"],
    "WorkoutStatistics": ["type", "startDate", "endDate", "average", "minimum", "maximum", "sum", "unit"],
    "WorkoutRoute": common, "FileReference": ["path"],
    "ActivitySummary": [
      "dateComponents", "activeEnergyBurned", "activeEnergyBurnedGoal", "activeEnergyBurnedUnit", "appleMoveTime",
      "appleMoveTimeGoal", "appleExerciseTime", "appleExerciseTimeGoal", "appleStandHours", "appleStandHoursGoal",
    ],
    "MetadataEntry": ["key", "value"], "InstantaneousBeatsPerMinute": ["bpm", "time"],
    "ClinicalRecord": [
      "type", "identifier", "sourceName", "sourceURL", "fhirVersion", "receivedDate", "resourceFilePath",
    ],
    "Audiogram": ["type"] + common,
    "SensitivityPoint": ["frequencyValue", "frequencyUnit"] + ear.map { "leftEar\($0)" } + ear.map { "rightEar\($0)" },
    "VisionPrescription": ["type", "dateIssued", "expirationDate", "brand"], "RightEye": eye, "LeftEye": eye,
    "Attachment": ["identifier"],
  ]

  /// A writer of elements that records the text expected for each attribute.
  private struct Writer {
    var expected: [(name: String, text: String)] = []
    private var number = 0

    mutating func element(_ name: String, extra: String = "") -> String {
      let attributes = (DocumentTypeTests.attributes[name] ?? []).map { attribute in
        let (value, text) = value(of: attribute, in: name)
        expected.append(("\(name)/@\(attribute)", text))
        return " \(attribute)=\"\(value)\""
      }.joined()
      let children = (DocumentTypeTests.children[name] ?? []).map { element($0, extra: extra) }.joined()
      return "<\(name)\(attributes)\(extra)>\(children)</\(name)>"
    }

    /// Returns the value in the export, and a text that is in the result if and only if the value is.
    private mutating func value(of attribute: String, in element: String) -> (String, String) {
      number += 1
      switch attribute {
      case "date", "startDate", "endDate", "creationDate", "dateIssued", "expirationDate", "receivedDate":
        let second = number
        return (
          ExportText.date(second), Timestamp(seconds: ExportText.start.seconds + Int64(second)).iso8601
        )
      case "dateComponents": return ("2024-06-15", "2024-06-15")
      case "value" where element == "ExportDate": return (ExportText.date(0), "2024-06-15T08:00:00Z")
      case "time": return ("10:00:\(10 + number % 40).5", "hpeer.beatsPerMinute")
      case "leftEarMasked", "rightEarMasked": return ("1", "true")
      case "durationUnit": return ("s", "")
      case "device": return ("&lt;&lt;HKDevice: 0x1&gt;, name:name\(number)&gt;", "name\(number)")
      case "type" where element == "Record": return ("HKQuantityTypeIdentifierType\(number)", "Type\(number)")
      case "value" where element == "Record", "bpm", "duration", "totalDistance", "totalEnergyBurned", "average",
        "minimum",
        "maximum", "sum", "frequencyValue":
        return ("\(number).5", "\(number).5")
      case let name where name.hasSuffix("EarValue") || name.hasSuffix("Bound"): return ("\(number).5", "\(number).5")
      case let name where DocumentTypeTests.eye.contains(name) && !name.hasSuffix("Unit"):
        return ("\(number).5", "\(number).5")
      default: return ("text\(number)", "text\(number)")
      }
    }
  }

  /// Returns everything that was read, as text.
  private func text(_ reading: Reading) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    let samples = try (reading.samples + reading.readings).map {
      String(decoding: try encoder.encode($0), as: UTF8.self)
    }
    return samples.joined(separator: "\n")
      + "\n\(reading.report.locale ?? "") \(reading.report.exportDate?.iso8601 ?? "")"
  }

  @Test func nothingOfTheDocumentTypeIsLost() throws {
    var writer = Writer()
    let xml = writer.element("HealthData")
    let reading = try Reading(xml)
    let text = try text(reading)
    #expect(writer.expected.count >= 190)
    for (name, value) in writer.expected where !value.isEmpty { #expect(text.contains(value), "\(name) is \(value)") }
    #expect(reading.report.skipped.isEmpty, "\(reading.report.skipped)")
    let remarks = reading.report.remarks.keys.sorted()
    #expect(remarks == ["ClinicalRecord whose file is missing", "WorkoutRoute whose file is missing"])
  }

  @Test func anAttributeOfTomorrowIsKeptOnEveryElement() throws {
    var writer = Writer()
    let xml = writer.element("HealthData", extra: " tomorrow=\"morrow\"")
    let reading = try Reading(xml)
    let text = try text(reading)
    for (name, value) in writer.expected where !value.isEmpty { #expect(text.contains(value), "\(name) is \(value)") }
    #expect(reading.report.skipped.isEmpty, "\(reading.report.skipped)")
    let elements = xml.matches(of: /tomorrow="morrow"/).count
    let kept = text.matches(of: /morrow"|morrow\\"/).count
    #expect(kept >= elements, "\(kept) of \(elements)")
  }
}
