import Foundation
import HealthModel

/// A request body sent by an app on a phone, recognised by its content and read completely: HealthAppTransfer's JSON
/// (either version) and CSV, Health Auto Export's JSON, HealthPush's webhook, and P247's daily summaries.
///
/// ```swift
/// func count(_ bytes: [UInt8]) throws -> Int {
///   let body = try InboxBody(bytes, now: Timestamp(seconds: 1_718_438_400))
///   for (reason, finding) in body.skipped { print("left out:", finding.count, reason) }
///   return body.count
/// }
/// ```
///
/// A sample that cannot be understood is skipped and counted by reason. A body that is cut off is refused completely,
/// because other data may be missing too.
public struct InboxBody: Sendable {
  /// The app and format of a body. The raw values are stable.
  public struct Format: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    static let healthAppTransfer = Format(rawValue: "healthAppTransfer")
    static let healthAutoExport = Format(rawValue: "healthAutoExport")
    static let healthPush = Format(rawValue: "healthPush")
    /// P247's summaries of days.
    static let dailySummary = Format(rawValue: "dailySummary")
  }

  /// The limits on a body, which protect the server.
  public struct Limits: Hashable, Sendable {
    /// The maximum size of a body in bytes, after decompression.
    public var contentBytes = 32 << 20
    /// The maximum number of JSON values, each of which needs far more memory than its text. A table may have twice
    /// as many fields.
    public var values = 1_000_000
    /// The maximum number of samples and readings.
    public var samples = 100_000
    /// The maximum number of samples of one type, source and time, or of readings of one metric and time. Queries
    /// compare each of them with all others.
    public var alike = 200
    /// The maximum number of different sources, types, units and devices.
    public var names = 2_000
    /// The maximum length of each such name in bytes.
    public var nameBytes = 8_000

    /// Creates the limits of `hpeer serve --inbox`.
    public init() {}
  }

  /// The format of the body.
  public let format: Format
  /// The ``SampleRoad`` of the body's samples.
  public let road: SampleRoad
  /// The size of the body in bytes, after decompression.
  public let contentBytes: Int
  /// The samples, and the readings that newer ones replace.
  public private(set) var batches: [SampleBatch]
  /// The findings that were left out, keyed by reason.
  public private(set) var skipped: [String: ImportReport.Finding]

  /// Reads a body. Blocks: call it on a thread of your own.
  ///
  /// - Parameters:
  ///   - bytes: the received bytes, uncompressed or compressed with gzip or Zstandard.
  ///   - aggregation: the aggregation that the app states, such as `Days`, or `nil` if it states none.
  ///   - now: the time of arrival. Readings of a later body replace those of an earlier one.
  /// - Throws: ``InboxBodyError``
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

  /// The number of samples and readings.
  public var count: Int { batches.reduce(0) { $0 + $1.count } }

  /// Removes samples whose type is not allowed, by its own or HealthKit's name, and records them in ``skipped``.
  ///
  /// - Parameter types: the allowed types, or `nil` for all.
  /// - Returns: the number of samples removed.
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

  /// Removes characteristics, which identify the person: their sender could make the record another person's.
  public mutating func leaveOutPerson() {
    filter {
      Person.Trait(rawValue: $0.rawValue) == nil
    } reason: {
      "\($0.rawValue.shortened(toBytes: 100)): whose record it is, no inbox says"
    }
  }

  /// The names that a store would add to its dictionaries for this body: sources, types, units and devices.
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
