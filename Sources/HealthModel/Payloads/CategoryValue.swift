/// The value of a category sample: HealthKit's integer, and Apple's name for it if the integer does not determine it.
///
/// Apple's export prints names (`HKCategoryValueSleepAnalysisAsleepCore`), apps send integers. `name` is `nil` when
/// ``CategoryValueNames`` derives it from the type and the integer; both are `nil` for a sample without a value.
public struct CategoryValue: Hashable, Sendable, Codable {
  /// The raw value of the HealthKit enumeration that belongs to the sample's type.
  public var value: Int64?
  /// The name in the export, kept only if it cannot be derived from type and ``value``.
  public var name: String?

  /// Creates a value. Use ``CategoryValueNames/value(exported:type:)`` for the text of an export.
  public init(value: Int64?, name: String? = nil) {
    self.value = value
    self.name = name
  }
}

extension CategoryValue: SamplePayload {
  package static let kind = "category"
  package static let isOpen = false
  package var payload: Payload { .category(self) }

  package init(coded: CodedPayload) throws {
    if let json = coded.json {
      self = try CanonicalJSON.decode(Self.self, json)
      return
    }
    value = coded.number.flatMap(Int64.init(exactly:))
    guard coded.number == nil || value != nil else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a category without an integer"))
    }
  }

  package func coded() throws -> CodedPayload {
    let number = value.flatMap(Double.init(exactly:))
    let isPlain = name == nil && (value == nil || number != nil)
    return CodedPayload(number: number, json: isPlain ? nil : try CanonicalJSON.encode(self))
  }

  package func write(to form: inout CanonicalForm) {
    form.object { form in
      form.member("name", name)
      form.member("value", value) { $0.write($1) }
    }
  }

  package var canonicalValue: String { value.map { String($0) } ?? name ?? "" }
  package var rankDetail: RankDetail { name.map(RankDetail.text) ?? .nothing }
}
