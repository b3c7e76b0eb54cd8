import Foundation
import HealthModel

/// What an app on a phone has sent by itself, recognised by its content and read whole: HealthAppTransfer's JSON of either version
/// and its CSV, Health Auto Export's JSON, HealthPush's webhook, P247's days.
///
/// ```swift
/// func count(_ bytes: [UInt8]) throws -> Int {
///   let body = try InboxBody(bytes, now: Timestamp(seconds: 1_718_438_400))
///   for (reason, finding) in body.skipped { print("left out:", finding.count, reason) }
///   return body.count
/// }
/// ```
///
/// What cannot be understood of a sample leaves out that sample, counted by its reason. A body that ends in the middle is
/// refused whole, for nobody can say what else it lacks.
public struct InboxBody: Sendable {
  /// Which app's a body is; the raw values are stable.
  public struct Format: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    static let healthAppTransfer = Format(rawValue: "healthAppTransfer")
    static let healthAutoExport = Format(rawValue: "healthAutoExport")
    static let healthPush = Format(rawValue: "healthPush")
    /// P247's, a summary of each day.
    static let dailySummary = Format(rawValue: "dailySummary")
  }

  /// What a body may cost its reader.
  public struct Limits: Hashable, Sendable {
    /// Maximum bytes of a body that is not compressed any more.
    public var contentBytes = 32 << 20
    /// Maximum values of JSON in all: each takes far more memory than its text. A table may have twice as many fields.
    public var values = 1_000_000
    /// Maximum samples and readings.
    public var samples = 100_000
    /// Maximum samples of one type, source and time, or readings of one metric and time: what is shown of them is a question of
    /// each to all others.
    public var alike = 200
    /// Maximum names of sources, types, units and devices.
    public var names = 2_000
    /// Maximum bytes of each of them.
    public var nameBytes = 8_000

    /// Those of `hpeer serve --inbox`.
    public init() {}
  }

  /// Which app's it is.
  public let format: Format
  /// By which road its samples come.
  public let road: SampleRoad
  /// How many bytes it has, not compressed any more.
  public let contentBytes: Int
  /// The samples, and readings that newer ones replace.
  public private(set) var batches: [SampleBatch]
  /// What was not understood, or not wanted, by reason.
  public private(set) var skipped: [String: ImportReport.Finding]

  /// Reads a body. Blocks: call it on a thread of your own.
  ///
  /// - Parameters:
  ///   - bytes: as they came, compressed with gzip or Zstandard or not.
  ///   - aggregation: how the app says that it has summed up, such as `Days`; `nil` where it does not.
  ///   - now: when they came: a later body's readings replace an earlier one's.
  /// - Throws: ``InboxBodyError``.
  public init(
    _ bytes: [UInt8], aggregation: String? = nil, limits: Limits = Limits(), now: Timestamp
  ) throws(InboxBodyError) {
    let content = try InboxContent.bytes(of: bytes, limits)
    guard let body = InboxFormats.recognise(content) else {
      throw content.allSatisfy { $0 <= 0x20 } ? .empty : .unknownFormat
    }
    (format, road, contentBytes) = (type(of: body).format, type(of: body).road, content.count)
    let period = aggregation.flatMap(AggregationPeriod.init(named:))
    (batches, skipped) = try Self.read(body, period: period, now: now, limits)
  }

  private static func read(
    _ body: any InboxFormat, period: AggregationPeriod?, now: Timestamp, _ limits: Limits
  ) throws(InboxBodyError) -> (batches: [SampleBatch], skipped: [String: ImportReport.Finding]) {
    var collector = InboxCollector(limits)
    do {
      let report = try body.read(period: period, now: now) { try collector.add($0) }
      guard report.isComplete else { throw InboxBodyError.endsEarly(place: report.end?.place ?? "its end") }
      return (collector.batches, report.skipped)
    } catch {
      throw InboxBodyError(error, limits)
    }
  }

  /// Samples and readings together.
  public var count: Int { batches.reduce(0) { $0 + $1.count } }

  /// Leaves out what is none of these types, neither by its own name nor by HealthKit's, and says so.
  ///
  /// - Parameter types: `nil` for all.
  /// - Returns: how much was left out for this.
  @discardableResult
  public mutating func keep(_ types: Set<SampleType>?) -> Int {
    guard let types else { return 0 }
    let before = count
    filter { type in
      let answered = AppReadings.answered(by: [type])
      return types.contains(type) || !answered.isEmpty && answered.isSubset(of: types)
    } reason: {
      "\($0.rawValue.shortened(toBytes: 100)): this sender may not send it"
    }
    return before - count
  }

  /// Leaves out what says whose record it is, for a sender that could say that could make the record another person's.
  public mutating func leaveOutPerson() {
    filter {
      Person.Trait(rawValue: $0.rawValue) == nil
    } reason: {
      "\($0.rawValue.shortened(toBytes: 100)): whose record it is, no inbox says"
    }
  }

  /// Everything that a store will keep in a dictionary of its own because of this body: sources, types, units, devices.
  public var names: Set<String> { batches.reduce(into: []) { $0.formUnion($1.names) } }

  private mutating func filter(_ isWanted: (SampleType) -> Bool, reason: (SampleType) -> String) {
    for index in batches.indices {
      var changes = batches[index].changes
      let unwanted = Set(changes.types.indices.filter { !isWanted(changes.types[$0]) }.map { UInt32($0) })
      for sample in changes.samples where unwanted.contains(sample.type) {
        skipped.add(reason(changes.types[Int(sample.type)])) { nil }
      }
      changes.samples.removeAll { unwanted.contains($0.type) }
      for sample in batches[index].readings where !isWanted(sample.type) {
        skipped.add(reason(sample.type)) { nil }
      }
      batches[index] = SampleBatch(
        changes: changes, readings: batches[index].readings.filter { isWanted($0.type) })
    }
  }
}
