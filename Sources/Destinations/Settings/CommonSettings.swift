import Foundation
import HealthModel

/// The settings that all kinds of destinations have: which part of a record is delivered.
public struct CommonSettings: Hashable, Sendable {
  /// Whether changes are delivered automatically.
  public var isEnabled = true
  /// The types to deliver; `nil` for all.
  public var types: Set<SampleType>?
  /// The names of the sources to deliver; `nil` for all.
  public var sources: Set<String>?
  /// The earliest start of delivered samples: a day or an instant, never a relative date.
  public var from: DateBound?
  /// The end of the delivered time: a day, which is included, or an instant, which is not. Never a relative date.
  public var to: DateBound?
  /// Whether the names of sources and devices are delivered.
  public var sendsNames = true
  /// The form in which data is delivered.
  public var data = DataForm.samples
  /// The units in which quantities are delivered, by type; other types keep their own unit.
  public var units: [SampleType: String] = [:]

  /// A form in which data is delivered: see ``DeliveryShape``.
  public enum DataForm: String, Hashable, Sendable, CaseIterable {
    /// The samples, unchanged.
    case samples
    /// The sum or mean of each hour in the home time zone.
    case hour
    /// The sum or mean of each day in the home time zone.
    case day
  }

  /// The common settings, in the order in which they are documented.
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

  /// The keys that only kinds have that pass on samples (and `units` also kinds that display numbers).
  private static let keysOfSamples: Set = ["data", "units"]

  /// Returns the common settings that apply to a kind of destination.
  public static func fields(of kind: DestinationDescription) -> [SettingField] {
    fields.filter { field in
      kind.passesSamplesOn || kind.showsNumbers && field.key == "units" || !keysOfSamples.contains(field.key)
    }
  }

  /// Creates settings that deliver everything.
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
    // A relative date would leave samples at the destination that it no longer selects.
    case .daysAgo, .monthsAgo: throw SettingsError(key, .invalid("must be a date that stays, such as 2024-06-15"))
    case let bound?: return bound
    }
  }

  /// Whether every sample is delivered.
  public var selectsAll: Bool { types == nil && sources == nil && from == nil && to == nil }

  /// Returns the filter that selects the samples to deliver.
  ///
  /// - Parameter zone: the time zone of the days in the settings.
  public func filter(in zone: TimeZone) -> SampleFilter {
    SampleFilter(
      types: types, earliest: from?.start(in: zone, now: .now), end: to?.end(in: zone, now: .now), sources: sources)
  }
}
