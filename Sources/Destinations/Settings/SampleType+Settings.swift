import HealthModel

extension SampleType {
  /// The type that a setting names, as ``TypeWords`` understands it: `stepCount`, `steps`.
  ///
  /// - Parameter key: of the setting.
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

  /// Those that a setting names, which is a list.
  public static func all(named names: [String], in key: String) throws(SettingsError) -> Set<SampleType> {
    var types: Set<SampleType> = []
    for name in names { types.insert(try named(name, in: key)) }
    return Set(types.withMembers)
  }
}
