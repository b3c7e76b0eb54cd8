import HealthFormats
import HealthModel
import HealthStore

/// How samples are written to a file. A new format is a file beside ``Exporting`` and a line in ``allCases``.
///
/// ```swift
/// for format in ExportFormat.allCases where format.takes.contains(.offset) { print(format.rawValue, format.suffix) }
/// ```
public struct ExportFormat: Sendable {
  /// What people and the audit log call it.
  public let rawValue: String
  /// Of a file in it, without the dot.
  public let suffix: String
  /// Other suffixes of such files.
  let otherSuffixes: Set<String>
  /// What it is about, of formats that have no place for most types; `nil` for all of them.
  public let subject: Subject?
  /// What it lacks for a sample that it cannot hold, as half a sentence: "FHIR has no place".
  public let lack: String
  /// Whether it is written from its beginning to its end: only then can it be a stream, compressed or divided.
  public let isStream: Bool
  /// Whether it is the change feed, with deletions and what is hidden behind others.
  let isFeed: Bool
  /// The options that mean something to it.
  public let takes: Options
  let write: @Sendable (Exporting, ExportContent) async throws -> ExportSummary

  /// - Parameters:
  ///   - name: of ``rawValue``.
  ///   - write: writes one file.
  init(
    _ name: String, suffix: String, otherSuffixes: Set<String> = [], subject: Subject? = nil,
    lack: String = "there is no place", isStream: Bool = true, isFeed: Bool = false, takes: Options = [],
    write: @escaping @Sendable (Exporting, ExportContent) async throws -> ExportSummary
  ) {
    (rawValue, self.suffix, self.otherSuffixes) = (name, suffix, otherSuffixes)
    (self.subject, self.lack, self.isStream, self.isFeed) = (subject, lack, isStream, isFeed)
    (self.takes, self.write) = (takes, write)
  }

  /// What a format of some types is about.
  public struct Subject: Sendable {
    /// Whoever names one of these types means it.
    public let namedBy: Set<SampleType>
    /// The type whose samples are in it.
    let type: SampleType

    func written(from filter: SampleFilter) -> Set<SampleType> { namedBy.contains(where: filter.passes) ? [type] : [] }
  }

  /// Some of ``ExportOptions``, and ways to divide.
  public struct Options: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// ``ExportOptions/offset``; the others say each sample's own.
    public static let offset = Options(rawValue: 1)
    /// ``ExportOptions/statistics``.
    public static let statistics = Options(rawValue: 2)
    /// ``ExportOptions/fhir``.
    public static let fhir = Options(rawValue: 4)
    /// ``ExportOptions/defusesFormulas``.
    public static let formulas = Options(rawValue: 8)
    /// A file for each workout (``ExportSplit``).
    public static let workouts = Options(rawValue: 16)
  }
}

extension ExportFormat: CaseIterable, RawRepresentable, Hashable {
  /// In the order in which they are named to people; of those with one suffix, the first is meant by it.
  public static let allCases: [ExportFormat] = [
    json, ndjson, csv, appleXML, appleArchive, transferJSON1, transferJSON2, transferCSV, gpx, calendar,
    healthAutoExport, sqlite, statisticsCSV, statisticsJSON, fhirBundle, fhirLines,
  ]

  public init?(rawValue: String) {
    guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = format
  }

  /// What a file is whose name ends so, without the dot and in lower case; `nil` where that says nothing.
  public init?(suffix: String) {
    let format = Self.allCases.first { $0.suffix == suffix || $0.otherSuffixes.contains(suffix) }
    guard let format else { return nil }
    self = format
  }
}

/// How formats write what they do; each has some of them (``ExportFormat/takes``).
public struct ExportOptions: Sendable {
  /// From UTC, in seconds, of all dates.
  public var offset = 0
  /// Whether no text begins as a spreadsheet's formulas do.
  public var defusesFormulas = false
  /// Which numbers; `nil` for days in UTC.
  public var statistics: StatisticsForm?
  /// Whose the resources are, and their codes.
  public var fhir = FHIROptions()

  /// Each as it is without a word.
  public init() {}

  /// Those with some changed.
  public static func with(_ change: (inout ExportOptions) -> Void) -> ExportOptions {
    var options = ExportOptions()
    change(&options)
    return options
  }
}

/// What is asked for of a file, whatever its format.
struct ExportContent: Sendable {
  var filter: SampleFilter
  var options: ExportOptions
  /// When the export began.
  var exported: Timestamp
}
