import HealthModel

extension SampleType {
  /// Returns the type that a setting names, by the rules of ``TypeWords``: `stepCount`, `steps`.
  ///
  /// - Parameter key: the key of the setting.
  public static func named(_ name: String, in key: String) throws(SettingsError) -> SampleType {
    let types = TypeWords.types(name, held: [])
    if types.count == 1 { return types[0] }
    guard types.isEmpty else {
      throw SettingsError(
        key, .invalid("has \(name), which may be \(types.map(\.shortName).joined(separator: " or ")): name one"))
    }
    let similar = TypeWords.suggestions(for: name).joined(separator: " or ")
    throw SettingsError(
      key, .invalid("has no type called \(name)\(similar.isEmpty ? "" : "; did you mean \(similar)?")"))
  }

  /// Returns the types that a setting with a list names.
  public static func all(named names: [String], in key: String) throws(SettingsError) -> Set<SampleType> {
    var types: Set<SampleType> = []
    for name in names { types.insert(try named(name, in: key)) }
    return Set(types.withMembers)
  }
}
