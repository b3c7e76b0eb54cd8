/// A characteristic of the person (`HKCharacteristicType`), as Apple's export prints it: `HKBiologicalSexFemale`.
public struct CharacteristicValue: Hashable, Sendable, Codable {
  /// The text in the export. Use ``Person`` for comparisons, which recognizes texts without information.
  public var value: String

  /// Creates a value.
  ///
  /// - Parameter value: kept unchanged.
  public init(value: String) {
    self.value = value
  }
}

extension CharacteristicValue: SamplePayload {
  package static let kind = "characteristic"
  package static let isOpen = false
  package var payload: Payload { .characteristic(self) }

  package func write(to form: inout CanonicalForm) { form.object { $0.member("value", value) } }

  package var rankDetail: RankDetail { .nothing }
}

extension CharacteristicValue: SingleReading {}
