/// Apple's names for the integer values of category samples, read from `Resources/category_values.tsv`.
public struct CategoryValueNames: Sendable {
  /// The table in this build, loaded once.
  public static let healthKit = CategoryValueNames(
    table: String(decoding: PackageResources.category_values_tsv, as: UTF8.self))

  private let values: [String: Int64]
  private let names: [String: [Int64: String]]

  /// Reads rows of `enumeration value name` below a header line. If two rows have the same integer, the first is its
  /// name and later ones are older spellings that are still understood.
  init(table: String) {
    var values: [String: Int64] = [:]
    var names: [String: [Int64: String]] = [:]
    for line in table.split(whereSeparator: \.isNewline).dropFirst() {
      let fields = line.split(separator: "\t").map(String.init)
      guard fields.count == 3, let value = Int64(fields[1]) else { continue }
      values[fields[2]] = value
      if names[fields[0]]?[value] == nil { names[fields[0], default: [:]][value] = fields[2] }
    }
    self.values = values
    self.names = names
  }

  /// Returns Apple's name for `value` in samples of `type`, or `nil` if there is none.
  public func name(of value: Int64, type: SampleType) -> String? {
    SampleTypeCatalogue.healthKit[type]?.values.flatMap { names[$0]?[value] }
  }

  /// Returns the value for a text in an export: an integer, or the integer of a known name. The text is kept if it
  /// cannot be derived from the type and the integer.
  public func value(exported text: String, type: SampleType) -> CategoryValue {
    if let value = values[text] {
      return CategoryValue(value: value, name: name(of: value, type: type) == text ? nil : text)
    }
    if let value = Int64(text), String(value) == text, name(of: value, type: type) == nil {
      return CategoryValue(value: value)
    }
    return CategoryValue(value: Int64(text), name: text)
  }

  /// Returns the text that an export prints for `category`, or `nil` for a sample without a value.
  public func exported(_ category: CategoryValue, type: SampleType) -> String? {
    category.name ?? category.value.map { name(of: $0, type: type) ?? String($0) }
  }
}
