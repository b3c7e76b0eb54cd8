import HealthFormats
import HealthModel
import HealthStore

/// A file format for exports. To add a format, add a file beside ``Exporting`` and an entry in ``allCases``.
///
/// ```swift
/// for format in ExportFormat.allCases where format.takes.contains(.offset) { print(format.rawValue, format.suffix) }
/// ```
public struct ExportFormat: Sendable {
  /// The name in the user interface and the audit log.
  public let rawValue: String
  /// The file name extension, without the dot.
  public let suffix: String
  /// Other file name extensions of the format.
  let otherSuffixes: Set<String>
  /// The subject of a format that is made for one type; `nil` for a format of all types.
  public let subject: Subject?
  /// A clause for samples that the format cannot hold, such as "FHIR has no place".
  public let lack: String
  /// Whether the file is written from beginning to end. Otherwise it cannot be streamed, compressed or divided.
  public let isStream: Bool
  /// Whether the format is the change feed, with tombstones and hidden samples.
  let isFeed: Bool
  /// The options that the format supports.
  public let takes: Options
  let write: @Sendable (Exporting, ExportContent) async throws -> ExportSummary

  /// Creates a format.
  ///
  /// - Parameters:
  ///   - name: the ``rawValue``.
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

  /// The type that a format is made for.
  public struct Subject: Sendable {
    /// The types that select ``type``: a filter that passes any of them exports the samples of ``type``.
    public let namedBy: Set<SampleType>
    /// The type of the exported samples.
    let type: SampleType

    func written(from filter: SampleFilter) -> Set<SampleType> { namedBy.contains(where: filter.passes) ? [type] : [] }
  }

  /// A set of export options and divisions that a format supports.
  public struct Options: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// ``ExportOptions/offset``; formats without it write each sample's own offset.
    public static let offset = Options(rawValue: 1)
    /// ``ExportOptions/statistics``.
    public static let statistics = Options(rawValue: 2)
    /// ``ExportOptions/fhir``.
    public static let fhir = Options(rawValue: 4)
    /// ``ExportOptions/defusesFormulas``.
    public static let formulas = Options(rawValue: 8)
    /// The division into a file for each workout (``ExportSplit``).
    public static let workouts = Options(rawValue: 16)
  }
}

extension ExportFormat: CaseIterable, RawRepresentable, Hashable {
  /// All formats in their order for people. If two formats share a suffix, the suffix means the first.
  public static let allCases: [ExportFormat] = [
    json, ndjson, csv, appleXML, appleArchive, transferJSON1, transferJSON2, transferCSV, gpx, calendar,
    healthAutoExport, sqlite, statisticsCSV, statisticsJSON, fhirBundle, fhirLines,
  ]

  public init?(rawValue: String) {
    guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = format
  }

  /// Returns the format with a file name extension, without the dot and in lower case, or `nil` if there is none.
  public init?(suffix: String) {
    let format = Self.allCases.first { $0.suffix == suffix || $0.otherSuffixes.contains(suffix) }
    guard let format else { return nil }
    self = format
  }
}

/// The options for writing an export. Each format supports some of them (``ExportFormat/takes``).
public struct ExportOptions: Sendable {
  /// The UTC offset of all dates, in seconds.
  public var offset = 0
  /// Whether texts that a spreadsheet would take for formulas are marked as text.
  public var defusesFormulas = false
  /// The statistics to export; `nil` for days in UTC.
  public var statistics: StatisticsForm?
  /// The patient and the codes of FHIR resources.
  public var fhir = FHIROptions()

  /// Creates the default options.
  public init() {}

  /// Returns the default options with some changes.
  public static func with(_ change: (inout ExportOptions) -> Void) -> ExportOptions {
    var options = ExportOptions()
    change(&options)
    return options
  }
}

/// The content and options of one exported file, whatever its format.
struct ExportContent: Sendable {
  var filter: SampleFilter
  var options: ExportOptions
  /// The time at which the export began.
  var exported: Timestamp
}
