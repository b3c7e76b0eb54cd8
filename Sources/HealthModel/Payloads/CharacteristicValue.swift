/// A characteristic of the person (`HKCharacteristicType`), as Apple's export prints it: `HKBiologicalSexFemale`.
public struct CharacteristicValue: Hashable, Sendable, Codable {
  /// As the export prints it. ``Person`` is for comparing: it knows which texts say nothing.
  public var value: String

  /// - Parameter value: kept as it is.
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
