import Foundation
import HealthModel

/// The settings that all kinds of destinations have: what of a record travels there.
public struct CommonSettings: Hashable, Sendable {
  /// Whether anything is delivered without being asked for.
  public var isEnabled = true
  /// `nil` for all.
  public var types: Set<SampleType>?
  /// The names of sources; `nil` for all.
  public var sources: Set<String>?
  /// A day or an instant, never one that moves.
  public var from: DateBound?
  /// Likewise; a day is included, a time is not.
  public var to: DateBound?
  /// Whether the names of sources and devices travel.
  public var sendsNames = true
  /// What travels of the record.
  public var data = DataForm.samples
  /// In which unit the quantities of a type travel, where that is not their own.
  public var units: [SampleType: String] = [:]

  /// What travels: see ``DeliveryShape``.
  public enum DataForm: String, Hashable, Sendable, CaseIterable {
    /// Each sample as it is.
    case samples
    /// The sum or mean of each hour on the clock at home.
    case hour
    /// The sum or mean of each day at home.
    case day
  }

  /// All of them, in the order in which they are documented.
  public static let fields = [
    SettingField("enabled", .boolean, "Whether it is delivered to.", default: "true"),
    SettingField("types", .list, "Only these types: short names (stepCount) or HealthKit identifiers."),
    SettingField("sources", .list, "Only samples of the sources with these names."),
    SettingField("from", .text, "Only what starts on or after this date (2024-06-15) or time."),
    SettingField("to", .text, "Only what starts on or before this date, or before this time."),
    SettingField("names", .boolean, "Whether the names of sources and devices travel.", default: "true"),
    SettingField(
      "data", .choice(DataForm.allCases.map(\.rawValue)),
      "What travels: samples, or the sums and means of each hour or day; of kinds that pass samples on.",
      default: DataForm.samples.rawValue),
    SettingField(
      "units", .table,
      "Units by type, in which values travel: bodyMass = \"lb\"; of kinds that pass samples on or show numbers."),
  ]

  /// Those of the kinds that hand on the samples that they are given.
  private static let keysOfSamples: Set = ["data", "units"]

  /// Those that destinations of a kind may have.
  public static func fields(of kind: DestinationDescription) -> [SettingField] {
    fields.filter { field in
      kind.passesSamplesOn || kind.showsNumbers && field.key == "units" || !keysOfSamples.contains(field.key)
    }
  }

  /// Everything travels.
  public init() {}

  init(_ values: [String: DestinationSettings.Value]) throws(SettingsError) {
    for field in Self.fields { try field.check(values[field.key]) }
    if case .boolean(let flag) = values["enabled"] { isEnabled = flag }
    if case .boolean(let flag) = values["names"] { sendsNames = flag }
    if case .list(let names) = values["sources"] { sources = Set(names) }
    if case .list(let names) = values["types"] { types = try SampleType.all(named: names, in: "types") }
    if case .text(let text) = values["data"] { data = DataForm(rawValue: text) ?? .samples }
    if case .table(let table) = values["units"] { units = try Self.units(table) }
    from = try Self.bound(values, "from")
    to = try Self.bound(values, "to")
  }

  private static func units(_ table: [String: String]) throws(SettingsError) -> [SampleType: String] {
    var units: [SampleType: String] = [:]
    for (name, unit) in table.sorted(by: { $0.key < $1.key }) {
      let type = try SampleType.named(name, in: "units")
      guard let own = SampleTypeCatalogue.healthKit[type]?.canonicalUnit else {
        throw SettingsError("units", .invalid("has \(name), which is not measured in any unit"))
      }
      let whole = MolarUnit.long(unit, of: type)
      guard UnitConversion.convert(1, from: own, to: whole) != nil else {
        throw SettingsError("units", .invalid("has a unit for \(name) that it is not measured in: \(unit)"))
      }
      units[type] = whole
    }
    return units
  }

  private static func bound(
    _ values: [String: DestinationSettings.Value], _ key: String
  ) throws(SettingsError) -> DateBound? {
    guard case .text(let text) = values[key] else { return nil }
    switch DateBound(text) {
    case nil: throw SettingsError(key, .invalid("is no date, such as 2024-06-15 or 2024-06-15T10:30"))
    // What moves every day would leave there what it does not let through any more.
    case .daysAgo, .monthsAgo: throw SettingsError(key, .invalid("must be a date that stays, such as 2024-06-15"))
    case let bound?: return bound
    }
  }

  /// Whether every sample travels.
  public var selectsAll: Bool { types == nil && sources == nil && from == nil && to == nil }

  /// What travels.
  ///
  /// - Parameter zone: whose days are meant.
  public func filter(in zone: TimeZone) -> SampleFilter {
    SampleFilter(
      types: types, earliest: from?.start(in: zone, now: .now), end: to?.end(in: zone, now: .now), sources: sources)
  }
}
