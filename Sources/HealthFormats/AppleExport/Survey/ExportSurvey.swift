import HealthModel

/// The result of a first scan of a whole export: its contents, and everything that the second pass needs.
public struct ExportSurvey: Sendable {
  /// The number of top-level `Record` elements, by type.
  public internal(set) var records: [String: Int] = [:]
  /// The number of all other top-level elements, by name.
  public internal(set) var elements: [String: Int] = [:]
  /// The attributes of `Me` that are not empty.
  public internal(set) var characteristics: [String: String] = [:]
  /// The date of the export according to the file; `nil` if it is missing or unreadable.
  public internal(set) var exportDate: Timestamp?
  /// The unchanged `locale` attribute of the root element, such as `en_DE`; `nil` if it is missing.
  public internal(set) var locale: String?
  /// The `HealthKit Export Version` in the document type declaration.
  public internal(set) var version: Int?
  /// The UTC offset of the dates, in seconds east: the phone's offset at the time of the export.
  public internal(set) var utcOffset: Int?
  /// A sample of up to 256 records of each source, evenly spread over the file, by source name.
  public internal(set) var sources: [String: [SampledRecord]] = [:]

  /// The number of bytes of XML that were read.
  public internal(set) var xmlBytes: Int64 = 0
  /// Whether the root element was closed.
  public internal(set) var isComplete = false
  /// The position at which an incomplete file ends; `nil` for a complete file.
  public internal(set) var end: TextPosition?

  /// The hashes of keys that may occur more than once.
  var suspects = HashSet64()
  /// The files that are named by several routes.
  var routeClaims = RouteClaims()
}

/// Questions that a store asks about an export, and its answers.
extension ExportSurvey {
  /// Makes the reader deliver records with these keys as groups, even if the file holds only one of each. Only the
  /// value of such a record shows which of several records in the store it is.
  public mutating func expectTwins(_ keys: [SampleKey]) {
    for key in keys { suspects.insert(KeyReader.hash(of: key)) }
  }

  /// The person whose export this is.
  public var person: Person { Person(characteristics: characteristics) }

  /// The date of birth and the sex, which identify the person before an import that deletes samples. `nil` if the
  /// export has no date of birth.
  public var personKey: [String]? {
    let told = ["HKCharacteristicTypeIdentifierDateOfBirth", "HKCharacteristicTypeIdentifierBiologicalSex"]
      .map { characteristics[$0] ?? "" }
    return told[0].isEmpty ? nil : told
  }

  /// Returns the characteristic that shows that two exports are of different people, in words, or `nil` if they may
  /// be of the same person.
  ///
  /// A sex or blood type that only one export has is no difference, because the person may have entered it since. A
  /// date of birth that only one export has is a difference.
  public func personDiffers(from other: ExportSurvey) -> String? {
    func told(_ survey: ExportSurvey, _ name: String) -> String? {
      survey.characteristics["HKCharacteristicTypeIdentifier\(name)"].flatMap { $0.ends(with: "NotSet") ? nil : $0 }
    }
    if told(self, "DateOfBirth") != told(other, "DateOfBirth") { return "date of birth" }
    for (name, words) in [("BiologicalSex", "sex"), ("BloodType", "blood type")] {
      if let mine = told(self, name), let its = told(other, name), mine != its { return words }
    }
    return nil
  }
}
