/// What is known about the sample types of HealthKit, read from `Resources/sample_types.tsv`.
///
/// The catalogue is data: it gives types their short names, canonical units and groups. Nothing is refused for being
/// absent from it.
///
/// ```swift
/// let catalogue = SampleTypeCatalogue.healthKit
/// if let type = catalogue.type(named: "heartrate"), let entry = catalogue[type] {
///   print(entry.displayName, entry.canonicalUnit ?? "")  // Heart Rate count/min
/// }
/// print(catalogue.suggestions(for: "hartrate"))          // heartRate first
/// ```
public struct SampleTypeCatalogue: Sendable {
  /// How samples of a type combine into one number (`HKQuantityAggregationStyle`).
  public enum Aggregation: String, Sendable {
    /// Values add up over time: steps, energy, distance.
    case cumulative
    /// Values have a plain mean, a minimum and a maximum (`discreteArithmetic`): body mass.
    case discrete
    /// Values have a mean in which each counts for as long as it lasts: heart rate.
    case discreteTemporallyWeighted
    /// Sound levels, whose mean is that of their energies (IEC 61672-1).
    case discreteEquivalentContinuousLevel
  }

  /// What kind of HealthKit object a type describes.
  public enum Kind: String, Sendable {
    /// Types whose samples have a ``Payload`` of the same name.
    case quantity, category, correlation, characteristic, workout, activitySummary
    /// Types of which some have a ``Payload`` of the same name, and the others are kept as JSON.
    case electrocardiogram, heartbeatSeries, audiogram, stateOfMind, workoutRoute, visionPrescription
    /// Doses, questionnaires such as PHQ-9, and FHIR resources.
    case medicationDoseEvent, scoredAssessment, clinicalRecord
  }

  /// One row of the catalogue.
  public struct Entry: Sendable {
    /// No two rows have the same.
    public let type: SampleType
    /// The Swift HealthKit constant, which people type: `stepCount`.
    public let shortName: String
    /// In English, as Apple's Health app shows it: `Walking + Running Distance`.
    public let displayName: String
    /// The group that Apple's Health app would show it in: `heart`, `activity`, ...
    public let group: String
    /// Rows of a kind that this version does not know are not in the catalogue.
    public let kind: Kind
    /// The unit that values are compared and aggregated in; `nil` for what has none.
    public let canonicalUnit: String?
    /// `nil` for what is no quantity.
    public let aggregation: Aggregation?
    /// The enumeration of ``CategoryValueNames`` that a category's values belong to.
    let values: String?
  }

  /// The catalogue that this build carries, read once.
  public static let healthKit = SampleTypeCatalogue(
    table: String(decoding: PackageResources.sample_types_tsv, as: UTF8.self))

  /// In the order of the table's rows.
  public let entries: [Entry]
  private let byIdentifier: [String: Int]
  private let byName: [String: Int]

  /// Reads tab-separated rows `shortName displayName group identifier kind unit aggregation notes values` below a
  /// header line. Rows of an unknown kind are left out.
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

  /// `nil` for a type that the catalogue does not know, which is no error.
  public subscript(type: SampleType) -> Entry? {
    byIdentifier[type.rawValue].map { entries[$0] }
  }

  /// The type that a person means by `text`: a HealthKit identifier, a short name in any case, or a metric of Health Auto
  /// Export (`hae.step_count`); `nil` when none of these.
  public func type(named text: String) -> SampleType? {
    if let index = byIdentifier[text] ?? byName[text.lowercased()] { return entries[index].type }
    return text.begins(with: "HK") || text.begins(with: "hae.") ? SampleType(text) : nil
  }

  /// The types of the samples that a correlation of this type is made of, as far as HealthKit says; none for any other type.
  public func members(of type: SampleType) -> [SampleType] {
    guard let entry = self[type], entry.kind == .correlation else { return [] }
    // A blood pressure is two numbers of that name, a meal any of what is eaten and drunk.
    return entries.filter {
      $0.kind == .quantity && $0.group == entry.group
        && (entry.canonicalUnit == nil || $0.shortName.hasPrefix(entry.shortName))
    }.map(\.type)
  }

  /// The short names closest to a mistyped one, best first, for "did you mean".
  public func suggestions(for text: String, limit: Int = 3) -> [String] {
    SimilarNames.suggestions(for: text, among: entries.map(\.shortName), limit: limit)
  }
}

extension SampleType {
  /// The name that people read: the catalogue's short name, else the identifier itself.
  public var shortName: String {
    SampleTypeCatalogue.healthKit[self]?.shortName ?? rawValue
  }
}

extension Sequence<SampleType> {
  /// These, each once, and the types of what correlations of them are made of: whatever is handed on of a blood pressure has
  /// its numbers.
  public var withMembers: [SampleType] {
    var seen: Set<SampleType> = []
    return flatMap { [$0] + SampleTypeCatalogue.healthKit.members(of: $0) }.filter { seen.insert($0).inserted }
  }
}

/// Spelling suggestions.
public enum SimilarNames {
  /// The `names` closest to `text`, best first, for "did you mean".
  ///
  /// Of short words nearly any other is a neighbour: a word of four letters or fewer is taken for one that differs by one.
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

  /// Levenshtein distance in bytes, in which two neighbours that changed places are one mistake.
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
