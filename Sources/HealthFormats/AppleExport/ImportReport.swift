import HealthModel

/// What an export held and what became of it.
public struct ImportReport: Sendable, Codable, Equatable {
  /// How often something was found, and where first.
  public struct Finding: Sendable, Codable, Equatable {
    /// All of them, however many have a line in ``lines``.
    public var count = 0
    /// The lines of the first five, in the XML or in the file that the finding names; none for what is about all of a file.
    public var lines: [Int] = []

    /// Without arguments, a finding of nothing. Of the lines, no more than five are to be given.
    public init(count: Int = 0, lines: [Int] = []) {
      self.count = count
      self.lines = lines
    }
  }

  /// Top-level `Record` elements that became samples, by type.
  public var records: [String: Int] = [:]
  /// `Record` elements inside correlations, by type. Apple prints most of them at the top level too.
  public var nestedRecords: [String: Int] = [:]
  /// Other top-level elements that became samples, by name: `Workout`, `Correlation`, `ActivitySummary`, ...
  public var elements: [String: Int] = [:]
  /// Samples that agree with another in type, source and dates, and were told apart by their values.
  public var equalKeys = 0

  /// When the file says that it was made; `nil` where it does not say, or in no way that can be read.
  public var exportDate: Timestamp?
  /// The root's `locale` as it stands there, such as `en_DE`: the phone's language and region. No value depends on it.
  public var locale: String?
  /// The `HealthKit Export Version` in the document type declaration.
  public var version: Int?
  /// Seconds east of UTC in the dates: the phone's offset when it exported, not where a sample was taken.
  public var utcOffset: Int?

  /// What was not imported, by reason.
  public var skipped: [String: Finding] = [:]
  /// What was imported and yet is not as it should be, by kind.
  public var remarks: [String: Finding] = [:]

  /// Whether the root element was closed: `false` for a file that ends early.
  public var isComplete = false
  /// Where an incomplete file ends.
  public var end: TextPosition?
  /// Of an incomplete file, the sample that was read last.
  public var last: Last?

  /// The type and the start of a sample.
  public struct Last: Sendable, Codable, Equatable {
    public var type: SampleType
    /// In whole seconds where the file is of the Health app, which prints no fractions.
    public var start: Timestamp
  }

  /// A report of nothing, of a file that is not complete.
  public init() {}

  /// The same report, with findings under the name of the export that they are in.
  public func named(_ place: String) -> ImportReport {
    func named(_ findings: [String: Finding]) -> [String: Finding] {
      Dictionary(findings.map { ("\(place): \($0)", $1) }, uniquingKeysWith: { first, _ in first })
    }
    var report = self
    (report.skipped, report.remarks) = (named(skipped), named(remarks))
    return report
  }

  /// What this export and a later one held together. What there is but one of is the later one's; the whole is complete
  /// if both are.
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
  /// How many lines are kept.
  private static let lineLimit = 5

  /// - Parameter line: asked only for the first few.
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
  /// More kinds than this, which only a hostile file has, are counted together.
  private static var limit: Int { 1000 }

  /// - Parameter line: asked only for the first few of a kind, because finding a line takes a while.
  mutating func add(_ name: String, line: () -> Int?) {
    self[key(name), default: .init()].add(line: line)
  }

  /// Adds what was found in another file.
  mutating func add(_ name: String, _ finding: ImportReport.Finding) {
    self[key(name), default: .init()].add(finding)
  }

  private func key(_ name: String) -> String {
    let key = name.utf8.count > 160 ? name.shortened(toBytes: 40) + "…" : name
    return count >= Self.limit && self[key] == nil ? "others" : key
  }
}
