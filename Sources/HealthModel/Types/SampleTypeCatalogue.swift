/// A catalogue of HealthKit's sample types, read from `Resources/sample_types.tsv`.
///
/// It gives types their short names, canonical units and groups. Types that are missing from it are accepted
/// everywhere.
///
/// ```swift
/// let catalogue = SampleTypeCatalogue.healthKit
/// if let type = catalogue.type(named: "heartrate"), let entry = catalogue[type] {
///   print(entry.displayName, entry.canonicalUnit ?? "")  // Heart Rate count/min
/// }
/// print(catalogue.suggestions(for: "hartrate"))          // heartRate first
/// ```
public struct SampleTypeCatalogue: Sendable {
  /// The way in which samples of a type combine into a single number (`HKQuantityAggregationStyle`).
  public enum Aggregation: String, Sendable {
    /// Values add up over time: steps, energy, distance.
    case cumulative
    /// Values have an arithmetic mean, a minimum and a maximum (`discreteArithmetic`): body mass.
    case discrete
    /// Values have a mean weighted by duration: heart rate.
    case discreteTemporallyWeighted
    /// Sound levels, which are averaged by energy (IEC 61672-1).
    case discreteEquivalentContinuousLevel
  }

  /// The kind of HealthKit object that a type describes.
  public enum Kind: String, Sendable {
    /// Types whose samples have a ``Payload`` of the same name.
    case quantity, category, correlation, characteristic, workout, activitySummary
    /// Types whose samples have a ``Payload`` of the same name or, if there is no such payload, are kept as JSON.
    case electrocardiogram, heartbeatSeries, audiogram, stateOfMind, workoutRoute, visionPrescription
    /// Doses, questionnaires such as PHQ-9, and FHIR resources.
    case medicationDoseEvent, scoredAssessment, clinicalRecord
  }

  /// A row of the catalogue.
  public struct Entry: Sendable {
    /// The sample type, which is unique in the catalogue.
    public let type: SampleType
    /// The name of the Swift constant in HealthKit, which people type: `stepCount`.
    public let shortName: String
    /// The English name in Apple's Health app: `Walking + Running Distance`.
    public let displayName: String
    /// The group in Apple's Health app: `heart`, `activity`, ...
    public let group: String
    /// The kind of object. Rows of unknown kinds are not loaded.
    public let kind: Kind
    /// The unit in which values are compared and aggregated, or `nil` for types without a unit.
    public let canonicalUnit: String?
    /// The aggregation style of a quantity type, or `nil` for other types.
    public let aggregation: Aggregation?
    /// The enumeration of ``CategoryValueNames`` for a category type's values.
    let values: String?
  }

  /// The catalogue in this build, loaded once.
  public static let healthKit = SampleTypeCatalogue(
    table: String(decoding: PackageResources.sample_types_tsv, as: UTF8.self))

  /// All entries in the order of the table's rows.
  public let entries: [Entry]
  private let byIdentifier: [String: Int]
  private let byName: [String: Int]

  /// Reads tab-separated rows of `shortName displayName group identifier kind unit aggregation notes values` below a
  /// header line. Rows of an unknown kind are skipped.
  init(table: String) {
    let entries = table.split(whereSeparator: \.isNewline).dropFirst().compactMap { line -> Entry? in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 9, let kind = Kind(rawValue: fields[4]) else { return nil }
      return Entry(
        type: SampleType(fields[3]), shortName: fields[0], displayName: fields[1], group: fields[2], kind: kind,
        canonicalUnit: fields[5].isEmpty ? nil : fields[5], aggregation: Aggregation(rawValue: fields[6]),
        values: fields[8].isEmpty ? nil : fields[8])
    }
    self.entries = entries
    byIdentifier = Dictionary(
      entries.enumerated().map { ($1.type.rawValue, $0) }, uniquingKeysWith: { first, _ in first })
    byName = Dictionary(
      entries.enumerated().map { ($1.shortName.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the entry of a type, or `nil` if the catalogue does not know the type.
  public subscript(type: SampleType) -> Entry? {
    byIdentifier[type.rawValue].map { entries[$0] }
  }

  /// Returns the type for a HealthKit identifier, a short name in any case, or a metric of Health Auto Export
  /// (`hae.step_count`). Returns `nil` for other text.
  public func type(named text: String) -> SampleType? {
    if let index = byIdentifier[text] ?? byName[text.lowercased()] { return entries[index].type }
    return text.begins(with: "HK") || text.begins(with: "hae.") ? SampleType(text) : nil
  }

  /// Returns the types of the samples that belong to a correlation of this type according to HealthKit, or an empty
  /// array for any other type.
  public func members(of type: SampleType) -> [SampleType] {
    guard let entry = self[type], entry.kind == .correlation else { return [] }
    // A blood pressure consists of two quantities with its name as a prefix, a meal of any dietary quantities.
    return entries.filter {
      $0.kind == .quantity && $0.group == entry.group
        && (entry.canonicalUnit == nil || $0.shortName.hasPrefix(entry.shortName))
    }.map(\.type)
  }

  /// Returns the short names most similar to a mistyped one, best first, for "did you mean".
  public func suggestions(for text: String, limit: Int = 3) -> [String] {
    SimilarNames.suggestions(for: text, among: entries.map(\.shortName), limit: limit)
  }
}

extension SampleType {
  /// The catalogue's short name, or the identifier for an unknown type.
  public var shortName: String {
    SampleTypeCatalogue.healthKit[self]?.shortName ?? rawValue
  }
}

extension Sequence<SampleType> {
  /// These types without duplicates, and the member types of correlations among them. A blood pressure is always
  /// passed on with its quantities.
  public var withMembers: [SampleType] {
    var seen: Set<SampleType> = []
    return flatMap { [$0] + SampleTypeCatalogue.healthKit.members(of: $0) }.filter { seen.insert($0).inserted }
  }
}

/// Suggestions for misspelled names.
public enum SimilarNames {
  /// Returns the `names` most similar to `text`, best first, for "did you mean".
  ///
  /// Short words are similar to nearly any other, so words of up to four letters may differ by only one.
  public static func suggestions(for text: String, among names: [String], limit: Int = 3) -> [String] {
    let text = text.lowercased()
    let wanted = Array(text.utf8)
    let most = wanted.count <= 4 ? 1 : max(2, wanted.count / 3)
    return names.map { (name: $0, distance: distance(wanted, Array($0.lowercased().utf8))) }
      .filter { $0.distance <= most || wanted.count > 2 && $0.name.lowercased().contains(text) }
      .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
      .prefix(limit)
      .map(\.name)
  }

  /// Returns the Levenshtein distance in bytes, with a swap of two adjacent bytes counted as a single edit.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var (beforeThat, previous) = ([Int](), Array(0...b.count))
    for i in a.indices {
      var current = [i + 1]
      current.reserveCapacity(b.count + 1)
      for j in b.indices {
        var least = min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, current[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, beforeThat[j - 1] + 1) }
        current.append(least)
      }
      (beforeThat, previous) = (previous, current)
    }
    return previous[b.count]
  }
}
