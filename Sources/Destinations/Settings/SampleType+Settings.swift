import HealthModel

extension SampleType {
  /// The type that a setting names: a short name (`stepCount`) or a HealthKit identifier.
  ///
  /// - Parameter key: of the setting.
  public static func named(_ name: String, in key: String) throws(SettingsError) -> SampleType {
    if let type = SampleTypeCatalogue.healthKit.type(named: name) { return type }
    let similar = SampleTypeCatalogue.healthKit.suggestions(for: name).joined(separator: " or ")
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
