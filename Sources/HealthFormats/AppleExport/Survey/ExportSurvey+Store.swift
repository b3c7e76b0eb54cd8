import HealthModel

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
