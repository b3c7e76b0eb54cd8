import GRDB
import HealthModel

/// The settings for computing and showing the numbers of a record. They stay on this machine; no peer receives them.
public struct AnalysisSettings: Hashable, Sendable {
  /// The zone whose days count, by its IANA name; `nil` for that of the machine.
  public var homeZone: String?
  /// By type, the name of the source that counts before all others.
  public var firstSources: [SampleType: String] = [:]
  /// The units of tables for people, such as `imperial` or `mi,lb`; `nil` where none were chosen.
  public var units: String?
  /// The locale of the newest export, such as `en_US`; `nil` where no export said one.
  public var exportLocale: String?

  /// Nothing is decided.
  public init() {}

  /// As they are in the table; `value` of a name that this version does not know is left alone.
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

  /// What is decided; the raw values are stable.
  enum Name: String {
    case homeZone
    /// Of a type.
    case firstSource
    case units
    case exportLocale
  }
}

extension NumberReader {
  /// What was decided about how numbers are made, in the same state of the store.
  public func settings() throws -> AnalysisSettings { try AnalysisSettings(db) }
}

extension HealthStore {
  /// What its person has decided about how numbers are made.
  public struct Settings: Sendable {
    let store: HealthStore
  }

  /// What its person has decided about how numbers are made.
  public var settings: Settings { Settings(store: self) }
}

extension HealthStore.Settings {
  /// All of them.
  public func current() async throws(StoreError) -> AnalysisSettings {
    try await store.read { db in try AnalysisSettings(db) }
  }

  /// Decides whose days count, and writes it into the audit log.
  ///
  /// - Parameter zone: an IANA name; `nil` for the machine's zone.
  public func setHomeZone(_ zone: String?) async throws(StoreError) {
    try await set(.homeZone, of: nil, to: zone)
  }

  /// Decides which source of a type counts before all others, and writes it into the audit log.
  ///
  /// - Parameter source: a name; `nil` takes back what was decided.
  public func setFirstSource(_ source: String?, of type: SampleType) async throws(StoreError) {
    try await set(.firstSource, of: type, to: source)
  }

  /// Sets the units of tables for people, and writes it into the audit log.
  ///
  /// - Parameter units: such as `imperial`; `nil` takes back what was chosen.
  public func setUnits(_ units: String?) async throws(StoreError) {
    try await set(.units, of: nil, to: units)
  }

  /// Keeps the locale of an export, which says the units of its person. Not a person's decision, and not in the audit log.
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
