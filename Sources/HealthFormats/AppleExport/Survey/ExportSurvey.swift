import HealthModel

/// What a first look over the whole of an export found: enough to say what it is, and all that reading it needs.
public struct ExportSurvey: Sendable {
  /// Top-level `Record` elements by type.
  public internal(set) var records: [String: Int] = [:]
  /// All other top-level elements by name.
  public internal(set) var elements: [String: Int] = [:]
  /// The attributes of `Me`, the empty ones left out.
  public internal(set) var characteristics: [String: String] = [:]
  /// When the export says that it was made; `nil` where it does not say, or in no way that can be read.
  public internal(set) var exportDate: Timestamp?
  /// The root's `locale` as it stands there, such as `en_DE`; `nil` where it has none.
  public internal(set) var locale: String?
  /// The `HealthKit Export Version` in the document type declaration.
  public internal(set) var version: Int?
  /// Seconds east of UTC in the dates: the phone's offset when it exported.
  public internal(set) var utcOffset: Int?
  /// By the name of the source, up to 256 of its records, evenly spread over the file.
  public internal(set) var sources: [String: [SampledRecord]] = [:]

  /// The size of the XML as it was read.
  public internal(set) var xmlBytes: Int64 = 0
  /// Whether the root element was closed.
  public internal(set) var isComplete = false
  /// Where an incomplete file ends.
  public internal(set) var end: TextPosition?

  /// The hashes of keys that may occur more than once.
  var suspects = HashSet64()
  /// The files that several routes name.
  var routeClaims = RouteClaims()
}

/// What a store is asked about an export, and what it answers.
extension ExportSurvey {
  /// Has records with these keys handed over as groups even where the file holds only one of each: which of several that
  /// the store knows it is, only its value tells.
  public mutating func expectTwins(_ keys: [SampleKey]) {
    for key in keys { suspects.insert(KeyReader.hash(of: key)) }
  }

  /// Whose export it is.
  public var person: Person { Person(characteristics: characteristics) }

  /// What tells one person's exports from another's where something is to be deleted: the date of birth and the sex.
  /// `nil` where the person has told neither.
  public var personKey: [String]? {
    let told = ["HKCharacteristicTypeIdentifierDateOfBirth", "HKCharacteristicTypeIdentifierBiologicalSex"]
      .map { characteristics[$0] ?? "" }
    return told[0].isEmpty ? nil : told
  }

  /// In what two exports cannot be of one person, in words; `nil` where they can. What only one of them tells, the
  /// person may have told since, but for the date of birth, which is what tells one from another.
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
