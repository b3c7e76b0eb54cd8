import HealthModel

/// The contents of an export and the result of importing them.
public struct ImportReport: Sendable, Codable, Equatable {
  /// The number of times that a problem was found, and the lines of its first occurrences.
  public struct Finding: Sendable, Codable, Equatable {
    /// The number of all occurrences, including those without a line in ``lines``.
    public var count = 0
    /// The lines of the first five occurrences, in the XML or in the file that the finding names. Empty for a finding
    /// about a whole file.
    public var lines: [Int] = []

    /// Creates a finding; without arguments, an empty one. Pass at most five lines.
    public init(count: Int = 0, lines: [Int] = []) {
      self.count = count
      self.lines = lines
    }
  }

  /// The number of top-level `Record` elements that became samples, by type.
  public var records: [String: Int] = [:]
  /// The number of `Record` elements inside correlations, by type. Apple prints most of them at the top level too.
  public var nestedRecords: [String: Int] = [:]
  /// The number of other top-level elements that became samples, by name: `Workout`, `Correlation`,
  /// `ActivitySummary`, ...
  public var elements: [String: Int] = [:]
  /// The number of samples that share type, source and dates with another, and were told apart by their values.
  public var equalKeys = 0

  /// The date of the export according to the file; `nil` if it is missing or unreadable.
  public var exportDate: Timestamp?
  /// The unchanged `locale` attribute of the root element, such as `en_DE`: the phone's language and region. No value
  /// depends on it.
  public var locale: String?
  /// The `HealthKit Export Version` in the document type declaration.
  public var version: Int?
  /// The UTC offset of the dates, in seconds east: the phone's offset at the time of the export, not where a sample
  /// was taken.
  public var utcOffset: Int?

  /// The elements that were not imported, by reason.
  public var skipped: [String: Finding] = [:]
  /// The problems of elements that were imported nevertheless, by kind.
  public var remarks: [String: Finding] = [:]

  /// Whether the root element was closed. False for a file that ends early.
  public var isComplete = false
  /// The position at which an incomplete file ends; `nil` for a complete file.
  public var end: TextPosition?
  /// The last sample that was read from an incomplete file; `nil` for a complete file.
  public var last: Last?

  /// The type and the start of a sample.
  public struct Last: Sendable, Codable, Equatable {
    public var type: SampleType
    /// The start of the sample, in whole seconds in the Health app's files, which have no fractions.
    public var start: Timestamp
  }

  /// Creates an empty report of an incomplete file.
  public init() {}

  /// Returns the same report with `place`, the name of the export, in front of every finding.
  public func named(_ place: String) -> ImportReport {
    func named(_ findings: [String: Finding]) -> [String: Finding] {
      Dictionary(findings.map { ("\(place): \($0)", $1) }, uniquingKeysWith: { first, _ in first })
    }
    var report = self
    (report.skipped, report.remarks) = (named(skipped), named(remarks))
    return report
  }

  /// Returns the sum of this report and that of a later export. Properties that cannot be added are those of the
  /// later export. The result is complete if both reports are.
  public func adding(_ later: ImportReport) -> ImportReport {
    var report = later
    report.records.merge(records, uniquingKeysWith: +)
    report.nestedRecords.merge(nestedRecords, uniquingKeysWith: +)
    report.elements.merge(elements, uniquingKeysWith: +)
    report.equalKeys += equalKeys
    report.skipped.merge(skipped, uniquingKeysWith: { first, _ in first })
    report.remarks.merge(remarks, uniquingKeysWith: { first, _ in first })
    if !isComplete { (report.isComplete, report.end, report.last) = (false, end, last) }
    return report
  }
}

extension ImportReport.Finding {
  /// The maximum number of lines in a finding.
  private static let lineLimit = 5

  /// Counts one more occurrence.
  ///
  /// - Parameter line: returns the line of the occurrence; called only for the first few.
  mutating func add(line: () -> Int?) {
    count += 1
    if lines.count < Self.lineLimit, let line = line() { lines.append(line) }
  }

  mutating func add(_ other: ImportReport.Finding) {
    count += other.count
    lines += other.lines.prefix(Self.lineLimit - min(Self.lineLimit, lines.count))
  }
}

extension [String: ImportReport.Finding] {
  /// The maximum number of kinds. Further kinds, which only a hostile file has, are counted together.
  private static var limit: Int { 1000 }

  /// Counts one more finding of a kind.
  ///
  /// - Parameter line: returns the line; called only for the first few of a kind, because finding a line takes time.
  mutating func add(_ name: String, line: () -> Int?) {
    self[key(name), default: .init()].add(line: line)
  }

  /// Adds the findings of another file.
  mutating func add(_ name: String, _ finding: ImportReport.Finding) {
    self[key(name), default: .init()].add(finding)
  }

  private func key(_ name: String) -> String {
    let key = name.utf8.count > 160 ? name.shortened(toBytes: 40) + "…" : name
    return count >= Self.limit && self[key] == nil ? "others" : key
  }
}
