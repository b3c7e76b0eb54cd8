import Foundation
import HealthModel

/// The second pass over a file, which creates its samples. See ``HealthAutoExport``.
struct AutoExportReader: AutoExportVisitor {
  let survey: AutoExportScan
  let asOf: Timestamp
  let period: AggregationPeriod
  var collector: SampleCollector
  private var metric = -1

  init(survey: AutoExportScan, asOf: Timestamp, period: AggregationPeriod, collector: SampleCollector) {
    (self.survey, self.asOf, self.period, self.collector) = (survey, asOf, period, collector)
  }

  /// The kind of payloads that keep members of the file as they are.
  static let payloadKind = "healthAutoExport"
  /// The source name of points, elements and workouts that state no source.
  static let appName = "Health Auto Export"

  // MARK: Metrics

  mutating func beginMetric() { metric += 1 }
  // The first pass found both.
  mutating func metric(name: String) {}
  mutating func metric(units: String) {}

  mutating func point(_ point: JSONValue, weight: Int, line: () -> Int) throws {
    // A file that has changed since the first walk may have more.
    guard survey.metrics.indices.contains(metric) else { throw ImportError.changedWhileReading(path: Self.appName) }
    guard let name = survey.metrics[metric].name, !name.isEmpty else {
      return collector.report.skipped.add("point of a metric without a name", line: line)
    }
    guard case .object(var members) = point else {
      return collector.report.skipped.add("\(name): a point that is no object", line: line)
    }
    let units = survey.metrics[metric].units
    let source = Self.source(&members, ["source", "sleepSource", "inBedSource"])
    if let start = date(members["startDate"], line), let end = date(members["endDate"], line) {
      // Unaggregated samples, such as the segments of a night.
      for key in ["date", "startDate", "endDate"] { members[key] = nil }
      let (payload, metadata) = Self.content(members, units)
      return try add(
        fixed: Sample(
          uuid: Self.noIdentity, type: Self.type(name), start: start, end: end, source: source, metadata: metadata,
          payload: payload), weight: weight, line: line)
    }
    guard let start = date(members.removeValue(forKey: "date"), line) else {
      return collector.report.skipped.add("\(name): a point without a readable date", line: line)
    }
    guard members.contains(where: { $0.value != .null }) else {
      return collector.report.skipped.add("\(name): a point without a value", line: line)
    }
    let isNight = members["sleepStart"] != nil || members["sleepEnd"] != nil
    var (payload, metadata) = Self.content(members, units)
    var sample = Sample(
      uuid: Self.noIdentity, type: Self.type(name), start: start, end: start, source: source, metadata: metadata,
      payload: payload)
    if period == .none, !isNight { return try add(fixed: sample, weight: weight, line: line) }
    sample.end = isNight ? start : period.end(of: start)
    metadata["hpeer.aggregation"] = .string(isNight ? "night" : period.rawValue)
    sample.metadata = metadata
    try add(reading: sample, weight: weight, line: line)
  }

  /// Returns a quantity, with texts as metadata, if the members have that form; otherwise the members themselves.
  private static func content(_ members: [String: JSONValue], _ units: String?) -> (Payload, Metadata) {
    var metadata: Metadata = [:]
    var others = members.filter { $0.value != .null }
    let quantity: Double? =
      switch others.removeValue(forKey: "qty") {
      case .integer(let integer): Double(integer)
      case .number(let number): number
      default: nil
      }
    for (key, value) in others { if case .string(let text) = value { metadata["hae.\(key)"] = .string(text) } }
    if let quantity, metadata.count == others.count { return (.quantity(Quantity(quantity, units ?? "")), metadata) }
    var content = members.filter { $0.value != .null }
    if let units { content["units"] = .string(units) }
    return (.foreign(payloadKind, .object(content)), [:])
  }

  /// Returns the sample type of a metric, such as `hae.step_count`. Corrects a name that the app once misspelled.
  static func type(_ name: String) -> SampleType {
    SampleType("hae." + (name == "monosaturated_fat" ? "monounsaturated_fat" : name))
  }

  // MARK: Lists

  mutating func unknown(_ name: String, line: () -> Int) {
    collector.report.skipped.add("\(name) is unknown", line: line)
  }

  mutating func element(of list: String, _ element: JSONValue, weight: Int, line: () -> Int) throws {
    guard case .object(var members) = element else {
      return collector.report.skipped.add("\(list): an element that is no object", line: line)
    }
    if list == "workouts" { return try workout(members, weight: weight, line) }
    let names = [("start", "end"), ("startDate", "endDate"), ("date", "date")]
    guard let (first, last) = names.first(where: { members[$0.0] != nil }), let start = date(members[first], line)
    else {
      return collector.report.skipped.add("\(list): an element without a readable date", line: line)
    }
    let end = date(members[last], line) ?? start
    let id = members["id"]?.text.flatMap(UUID.init(uuidString:))
    let source = Self.source(&members, ["source"])
    func add(_ sample: Sample, id: UUID?) throws {
      var sample = sample
      sample.uuid = try id ?? Self.identity(of: sample)
      try collector.add(sample, weight: weight, line: line)
    }
    let object = AutoExportObject(list, members, start: start)
    if let object {
      try add(
        Sample(
          uuid: Self.noIdentity, type: object.type, start: start, end: object.end ?? end, source: source,
          metadata: object.metadata, payload: object.payload), id: id)
    }
    if object == nil {
      try add(
        Sample(
          uuid: Self.noIdentity, type: Self.type(Self.snakeCase(list)), start: start, end: end, source: source,
          payload: .foreign(Self.payloadKind, .object(members))), id: id)
    }
  }

  /// Returns `state_of_mind` for `stateOfMind`, in the style of the metrics' names.
  private static func snakeCase(_ name: String) -> String {
    name.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined()
  }

  // MARK: Samples

  mutating func add(reading sample: Sample, weight: Int, line: () -> Int) throws {
    var sample = sample
    sample.created = asOf
    sample.uuid = SampleIdentity.uuid(ofReading: sample)
    try collector.add(sample, weight: weight, isReading: true, line: line)
  }

  private mutating func add(fixed sample: Sample, weight: Int, line: () -> Int) throws {
    var sample = sample
    sample.uuid = try Self.identity(of: sample)
    try collector.add(sample, weight: weight, line: line)
  }

  static var noIdentity: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

  /// Returns the identifier of a sample that no newer reading replaces: a hash of its whole content.
  private static func identity(of sample: Sample) throws -> UUID {
    let content = try CodedPayload(sample.payload)
    let parts = [
      payloadKind, content.number.map { "\($0)" } ?? "", content.unit ?? "", content.json ?? "",
      MetadataText.encode(sample.metadata),
    ]
    return SampleIdentity.uuid(
      kind: parts.joined(separator: "\u{1F}"), type: sample.type, source: sample.source.name, start: sample.start,
      end: sample.end, created: nil, ordinal: 0)
  }

  mutating func date(_ value: JSONValue?, _ line: () -> Int) -> Timestamp? {
    guard let text = value?.text, let date = AutoExportDate(text) else { return nil }
    if !date.hasOffset { collector.report.remarks.add("date without an offset", line: line) }
    return date.instant
  }

  /// Removes the sources from the members and returns them as one source, sorted: the app lists them in no fixed
  /// order, and `Watch|iPhone` equals `iPhone|Watch`.
  private static func source(_ members: inout [String: JSONValue], _ keys: [String]) -> Source {
    let names = keys.compactMap { members.removeValue(forKey: $0)?.text }
      .flatMap { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }.filter { !$0.isEmpty }
    let sorted = Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return Source(name: sorted.isEmpty ? appName : sorted.joined(separator: "|"))
  }
}
