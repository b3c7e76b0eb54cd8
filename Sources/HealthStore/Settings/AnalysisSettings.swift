import GRDB
import HealthModel

/// The settings for computing and showing the numbers of a record. They stay on this machine; no peer receives them.
public struct AnalysisSettings: Hashable, Sendable {
  /// The IANA name of the time zone that defines days, or `nil` for the machine's zone.
  public var homeZone: String?
  /// The name of the preferred source of each type, which takes precedence over all others.
  public var firstSources: [SampleType: String] = [:]
  /// The units of tables for people, such as `imperial` or `mi,lb`, or `nil` if none were chosen.
  public var units: String?
  /// The locale of the newest export, such as `en_US`, or `nil` if no export contained one.
  public var exportLocale: String?

  /// Creates default settings.
  public init() {}

  /// Reads the settings from the table. Ignores names that this version does not know.
  init(_ db: Database) throws {
    for row in try Row.fetchAll(db, sql: "SELECT name, type, value FROM analysisSetting") {
      switch Name(rawValue: row[0]) {
      case .homeZone: homeZone = row[2]
      case .firstSource: firstSources[SampleType(row[1])] = row[2]
      case .units: units = row[2]
      case .exportLocale: exportLocale = row[2]
      case nil: continue
      }
    }
  }

  /// The names of settings. The raw values are stable.
  enum Name: String {
    case homeZone
    /// A setting of one type.
    case firstSource
    case units
    case exportLocale
  }
}

extension NumberReader {
  /// Returns the analysis settings in the same state of the store.
  public func settings() throws -> AnalysisSettings { try AnalysisSettings(db) }
}

extension HealthStore {
  /// The user's settings for computing and showing numbers.
  public struct Settings: Sendable {
    let store: HealthStore
  }

  /// The user's settings for computing and showing numbers.
  public var settings: Settings { Settings(store: self) }
}

extension HealthStore.Settings {
  /// Returns all settings.
  public func current() async throws(StoreError) -> AnalysisSettings {
    try await store.read { db in try AnalysisSettings(db) }
  }

  /// Sets the time zone that defines days, and records that in the audit log.
  ///
  /// - Parameter zone: an IANA name, or `nil` for the machine's zone.
  public func setHomeZone(_ zone: String?) async throws(StoreError) {
    try await set(.homeZone, of: nil, to: zone)
  }

  /// Sets the preferred source of a type, and records that in the audit log.
  ///
  /// - Parameter source: the name of a source, or `nil` for no preference.
  public func setFirstSource(_ source: String?, of type: SampleType) async throws(StoreError) {
    try await set(.firstSource, of: type, to: source)
  }

  /// Sets the units of tables for people, and records that in the audit log.
  ///
  /// - Parameter units: units such as `imperial`, or `nil` for the default.
  public func setUnits(_ units: String?) async throws(StoreError) {
    try await set(.units, of: nil, to: units)
  }

  /// Saves the locale of an export, which implies the user's units. This is not a decision of the user, so it is not
  /// in the audit log.
  public func keepExportLocale(_ locale: String) async throws(StoreError) {
    try await store.write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO analysisSetting(name, type, value) VALUES (?, '', ?)",
        arguments: [AnalysisSettings.Name.exportLocale.rawValue, locale])
    }
  }

  private func set(
    _ name: AnalysisSettings.Name, of type: SampleType?, to value: String?
  ) async throws(StoreError) {
    try await store.write { db in
      let key = type?.rawValue ?? ""
      let old = try String.fetchOne(
        db, sql: "SELECT value FROM analysisSetting WHERE name = ? AND type = ?", arguments: [name.rawValue, key])
      guard old != value else { return }
      var detail = ["setting": name.rawValue]
      detail["type"] = type?.rawValue
      detail["from"] = old
      detail["to"] = value
      try AuditChain.append(AuditEvent(.settingChanged, detail), db)
      if let value {
        try db.execute(
          sql: "INSERT OR REPLACE INTO analysisSetting(name, type, value) VALUES (?, ?, ?)",
          arguments: [name.rawValue, key, value])
      } else {
        try db.execute(
          sql: "DELETE FROM analysisSetting WHERE name = ? AND type = ?", arguments: [name.rawValue, key])
      }
    }
  }
}
