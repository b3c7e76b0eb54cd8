import HealthModel

/// What a store is asked about an export, and what it answers.
extension ExportSurvey {
  /// Has records with these keys handed over as groups even where the file holds only one of each: which of several that
  /// the store knows it is, only its value tells.
  public mutating func expectTwins(_ keys: [SampleKey]) {
    for key in keys {
      suspects.insert(
        KeyReader.hash(
          kind: ElementKind(identity: key.kind).hash, type: InternedText(key.type.rawValue).hash,
          start: Timestamp(seconds: key.start), end: Timestamp(seconds: key.end),
          created: key.created.map(Timestamp.init(seconds:))))
    }
  }

  /// What tells one person's exports from another's: the date of birth and the sex. `nil` where the person has told
  /// neither.
  public var person: [String]? {
    let told = ["HKCharacteristicTypeIdentifierDateOfBirth", "HKCharacteristicTypeIdentifierBiologicalSex"]
      .map { characteristics[$0] ?? "" }
    return told[0].isEmpty ? nil : told
  }
}

extension ElementKind {
  /// The kind whose ``identity`` this is, as far as its hash goes.
  fileprivate init(identity: String) {
    switch identity {
    case "record": self = .record
    case "correlation": self = .correlation
    case "workout": self = .workout
    default: self = .other(name: identity, identifier: nil)
    }
  }
}
