import Foundation
import HealthModel

/// Converts the files of an export to samples, one file at a time.
struct FitbitReader {
  static let source = Source(name: "Fitbit")
  /// The maximum size of one row of numbers, in bytes.
  private static let longestRow = 64 << 10
  /// The maximum size of one log of a sleep or an exercise, in bytes.
  private static let longestLog = 4 << 20

  /// A closure that is called from time to time and throws to stop the import.
  var check: () throws -> Void = {}
  private var rowCount = 0
  /// The time zone of clock times without an offset.
  let zone: TimeZone
  var collector: SampleCollector
  var weights = FitbitWeights()
  private var sleeps = FitbitSleeps()
  private var exercises: Set<Int64> = []
  /// The days for which the JSON of a family has a row: UTC days of streams, dates of daily numbers and weights.
  private var days: [FitbitFamily: Set<Int>] = [:]

  init(zone: TimeZone, collector: SampleCollector) {
    self.zone = zone
    self.collector = collector
  }

  /// Reads one file of a family.
  ///
  /// - Parameter name: the name of the file.
  /// - Throws: ``SampleFileError``, ``ImportError``, or what the collector's closure throws.
  mutating func read(_ family: FitbitFamily, _ source: any ByteSource, named name: String) throws {
    switch family {
    case .profile: break
    case .height: try rows(source, name) { reader, row, _ in reader.weights.add(height: row) }
    case .steps: try stream(family, Stream.steps, source, name)
    case .distance: try stream(family, Stream.distance, source, name)
    case .heartRate: try stream(family, Stream.heartRate, source, name)
    case .restingHeartRate: try rows(source, name) { try $0.addRestingHeartRate($1, $2) }
    case .weight: try rows(source, name) { try $0.addWeight($1, $2) }
    case .sleep: try logs(source, name) { try $0.addSleep($1, $2) }
    case .exercise: try logs(source, name) { try $0.addExercise($1, $2) }
    case .userSleeps: try table(source, name) { reader, row, _ in reader.sleeps.add(userSleep: row) }
    case .oxygenTable: try table(source, name) { try $0.addOxygen($1, $2) }
    case .variabilityTable: try table(source, name) { try $0.addVariability($1, $2) }
    case .stepsTable: try streamTable(Stream.steps, besides: .steps, source, name)
    case .distanceTable: try streamTable(Stream.distance, besides: .distance, source, name)
    case .heartRateTable: try streamTable(Stream.heartRate, besides: .heartRate, source, name)
    case .restingHeartRateTable: try table(source, name) { try $0.addRestingHeartRate(table: $1, $2) }
    case .weightTable: try table(source, name) { try $0.addWeight(table: $1, $2) }
    }
  }

  /// Reports which time zone was used for clock times, because no file states it with certainty.
  mutating func noteZone(isSaid: Bool, isInProfile: Bool) {
    let origin = isSaid ? "as was said" : isInProfile ? "as Profile.csv says of today" : "the home zone"
    collector.report.remarks.add("Fitbit: clock times without a zone, read as those of \(zone.identifier), \(origin)") {
      nil
    }
  }

  // MARK: Files

  /// The line of a row, if known, and its size in bytes.
  struct Place {
    var line: Int?
    var weight: Int
  }

  /// The number of rows between two calls of ``check``.
  private static let stride = 256

  private mutating func step() throws {
    rowCount += 1
    if rowCount % Self.stride == 0 { try check() }
  }

  private typealias Add<Row> = (inout FitbitReader, Row, Place) throws -> Void

  private mutating func rows(_ source: any ByteSource, _ name: String, _ add: Add<[String: JSONValue]>) throws {
    try elements(source, name, limit: Self.longestRow, add)
  }

  private mutating func logs(_ source: any ByteSource, _ name: String, _ add: Add<[String: JSONValue]>) throws {
    try elements(source, name, limit: Self.longestLog, add)
  }

  private mutating func elements(
    _ source: any ByteSource, _ name: String, limit: Int, _ add: Add<[String: JSONValue]>
  ) throws {
    var scanner = JSONScanner(source: source, path: name)
    // A file without data may contain a sentence instead of an array.
    guard try scanner.peek() == UInt8(ascii: "[") else { return }
    try scanner.beginArray()
    while try scanner.nextElement() {
      try step()
      let (bytes, offset) = try scanner.value(limit: limit)
      // Determining the line number would take as long as reading everything before it.
      let place = Place(line: nil, weight: bytes.count)
      guard case .object(let row) = try scanner.parse(bytes, at: offset) else {
        skip("\(name): something that is no object", place)
        continue
      }
      try add(&self, row, place)
    }
  }

  private mutating func table(_ source: any ByteSource, _ name: String, _ add: Add<[String: String]>) throws {
    var table = FitbitTable(source, path: name)
    while let row = try table.next() {
      try step()
      try add(&self, row, Place(line: table.line, weight: 0))
    }
  }

  // MARK: Streams

  /// A series with a number every few seconds or minutes.
  private struct Stream {
    var type: SampleType
    var unit: String
    /// The time that one row covers, in seconds; zero for instantaneous values.
    var length: Int64
    /// The plausible values of a row. A counted zero is plausible but makes no sample.
    var range: ClosedRange<Double>
    /// The factor that converts a value in JSON to ``unit``.
    var factor = 1.0
    var column: String

    static let steps = Stream(
      type: .quantity("StepCount"), unit: "count", length: 60, range: 0...100_000, column: "steps")
    /// The walking distance, in centimetres in JSON and in metres in tables.
    static let distance = Stream(
      type: .quantity("DistanceWalkingRunning"), unit: "m", length: 60, range: 0...100_000, factor: 0.01,
      column: "distance")
    static let heartRate = Stream(
      type: .quantity("HeartRate"), unit: "count/min", length: 0, range: 1...500, column: "beats per minute")

    var isCounted: Bool { length > 0 }
  }

  private mutating func stream(
    _ family: FitbitFamily, _ stream: Stream, _ source: any ByteSource, _ name: String
  ) throws {
    try rows(source, name) { reader, row, place in
      var (value, metadata): (JSONValue?, Metadata) = (row["value"], [:])
      if case .object(let parts)? = value {
        value = parts["bpm"]
        if let confidence = FitbitNumber.of(parts["confidence"], in: 0...3) {
          metadata["fitbit.confidence"] = .integer(Int64(confidence))
        }
      }
      guard case .string(let text)? = row["dateTime"], let start = FitbitTime.stamp(text),
        let number = FitbitNumber.of(value, in: 0...Double(1 << 40)).map({ $0 * stream.factor }),
        stream.range.contains(number)
      else { return reader.skip("\(name): a row without a readable time and number", place) }
      reader.days[family, default: []].insert(start.day)
      try reader.add(stream, number, start, Self.source, metadata, place)
    }
  }

  private mutating func streamTable(
    _ stream: Stream, besides family: FitbitFamily, _ source: any ByteSource, _ name: String
  ) throws {
    let covered = days[family] ?? []
    try table(source, name) { reader, row, place in
      guard let start = row["timestamp"].flatMap(FitbitTime.clock),
        let number = FitbitNumber.of(row[stream.column], in: stream.range)
      else { return reader.skip("\(name): a row without a readable time and number", place) }
      if covered.contains(start.day) { return }
      // Phone, tracker and other apps have rows of their own. Separate sources keep them from being added up.
      try reader.add(stream, number, start, Self.source(row["data source"]), [:], place)
    }
  }

  private mutating func add(
    _ stream: Stream, _ number: Double, _ start: Timestamp, _ source: Source, _ metadata: Metadata, _ place: Place
  ) throws {
    if stream.isCounted, number == 0 { return }
    let end = Timestamp(microseconds: start.microseconds + stream.length * 1_000_000)
    try add(stream.type, number, stream.unit, start, end, source, metadata, place)
  }

  private static func source(_ name: String?) -> Source {
    guard let name, !name.isEmpty, name.utf8.count <= 200 else { return source }
    return Source(name: "Fitbit \(name)")
  }

  // MARK: Numbers of days

  private mutating func addRestingHeartRate(_ row: [String: JSONValue], _ place: Place) throws {
    guard case .object(let value)? = row["value"] else { return skip("resting heart rate: a row without one", place) }
    // Fitbit writes placeholder rows for days without a value.
    guard case .string(let text)? = value["date"] else { return }
    guard let date = FitbitTime.day(text), let number = FitbitNumber.of(value["value"], in: 1...500) else {
      return skip("resting heart rate: a row without a readable date and number", place)
    }
    days[.restingHeartRate, default: []].insert(date)
    try add(.quantity("RestingHeartRate"), number, "count/min", of: date, place)
  }

  private mutating func addRestingHeartRate(table row: [String: String], _ place: Place) throws {
    guard let date = row["timestamp"].flatMap(FitbitTime.date),
      let number = FitbitNumber.of(row["beats per minute"], in: 1...500)
    else { return skip("resting heart rate: a row without a readable date and number", place) }
    if days[.restingHeartRate]?.contains(date) == true { return }
    try add(.quantity("RestingHeartRate"), number, "count/min", of: date, place)
  }

  private mutating func addVariability(_ row: [String: String], _ place: Place) throws {
    guard let date = row["timestamp"].flatMap(FitbitTime.date),
      let number = FitbitNumber.of(row["rmssd"], in: 0.1...2000)
    else { return skip("heart rate variability: a row without a readable date and number", place) }
    try add(.quantity("HeartRateVariabilityRMSSD"), number, "ms", of: date, place)
  }

  /// Adds a number that applies to a whole local day.
  private mutating func add(_ type: SampleType, _ value: Double, _ unit: String, of date: Int, _ place: Place) throws {
    let (start, end) = bounds(of: date)
    try add(type, value, unit, start, end, Self.source, [:], place)
  }

  private func bounds(of date: Int) -> (Timestamp, Timestamp) {
    (zone.first(of: CivilTime(day: date, second: 0)), zone.first(of: CivilTime(day: date + 1, second: 0)))
  }

  private mutating func addOxygen(_ row: [String: String], _ place: Place) throws {
    guard let start = row["timestamp"].flatMap(FitbitTime.clock),
      let number = FitbitNumber.of(row["value"], in: 1...100)
    else { return skip("oxygen saturation: a row without a readable time and number", place) }
    // Fitbit writes 50 if it could not measure.
    if number == 50 { return }
    try add(.quantity("OxygenSaturation"), number / 100, "%", start, start, Self.source, [:], place)
  }

  // MARK: Weights

  private mutating func addWeight(_ row: [String: JSONValue], _ place: Place) throws {
    guard case .string(let dateText)? = row["date"], let date = FitbitTime.day(dateText),
      case .string(let timeText)? = row["time"], let time = FitbitTime.stamp("\(dateText) \(timeText)"),
      let number = FitbitNumber.of(row["weight"], in: 1...2000)
    else { return skip("weight: a log without a readable date, time and weight", place) }
    var (start, end) = bounds(of: date)
    // A weight entered without a time of day has the last second of the day.
    if !timeText.hasPrefix("23:59:59") {
      start = zone.first(of: CivilTime(day: date, second: Int(time.seconds) - date * 86_400))
      end = start
    }
    days[.weight, default: []].insert(date)
    let index = FitbitNumber.of(row["bmi"], in: 1...500)
    let kilograms = weights.kilograms(number, bodyMassIndex: index)
    // Two logs of one day may both lack a time, so the log number is part of the identity.
    let log = FitbitNumber.of(row["logId"], in: 0...1e15).map { String(Int64($0)) }
    try add(.quantity("BodyMass"), kilograms, "kg", start, end, Self.source, [:], place, log: log)
    if let index { try add(.quantity("BodyMassIndex"), index, "count", start, end, Self.source, [:], place, log: log) }
    if let fat = FitbitNumber.of(row["fat"], in: 0.1...100) {
      try add(.quantity("BodyFatPercentage"), fat / 100, "%", start, end, Self.source, [:], place, log: log)
    }
  }

  private mutating func addWeight(table row: [String: String], _ place: Place) throws {
    guard let start = row["timestamp"].flatMap(FitbitTime.clock),
      let grams = FitbitNumber.of(row["weight grams"], in: 500...2_000_000)
    else { return skip("weight: a row without a readable time and weight", place) }
    let date = Int(
      (start.seconds + Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(start.seconds))))) / 86_400)
    if days[.weight]?.contains(date) == true { return }
    try add(.quantity("BodyMass"), grams / 1000, "kg", start, start, Self.source(row["data source"]), [:], place)
  }

  // MARK: Logs

  private mutating func addSleep(_ log: [String: JSONValue], _ place: Place) throws {
    guard let sleep = FitbitSleep(log) else {
      return skip("sleep: a log without a readable start, duration and stages", place)
    }
    // The same log may be in two files.
    guard sleeps.isNew(sleep) else { return }
    // All stages come from a single text, so its weight counts once.
    for (index, sample) in sleeps.samples(of: sleep, in: zone).enumerated() {
      try collector.add(sample, weight: index == 0 ? place.weight : 0) { place.line }
    }
  }

  private mutating func addExercise(_ log: [String: JSONValue], _ place: Place) throws {
    guard let exercise = FitbitExercise(log) else {
      return skip("exercise: a log without a readable start and duration", place)
    }
    guard exercises.insert(exercise.log).inserted else { return }
    try collector.add(exercise.sample, weight: place.weight) { place.line }
  }

  // MARK: Samples

  private mutating func add(
    _ type: SampleType, _ value: Double, _ unit: String, _ start: Timestamp, _ end: Timestamp, _ source: Source,
    _ metadata: Metadata, _ place: Place, log: String? = nil
  ) throws {
    let fraction = Int(start.microseconds - start.seconds * 1_000_000)
    let sample = Sample(
      uuid: Self.identity(type, source, start, end, ordinal: fraction, log: log), type: type, start: start, end: end,
      source: source,
      metadata: metadata, payload: .quantity(Quantity(value, unit)))
    try collector.add(sample, weight: place.weight) { place.line }
  }

  /// Returns the derived UUID of a sample. The kind `fitbit` keeps it apart from a sample of an Apple Health export.
  ///
  /// - Parameters:
  ///   - ordinal: distinguishes samples of the same second.
  ///   - log: the number of the log that the sample comes from, if any.
  static func identity(
    _ type: SampleType, _ source: Source, _ start: Timestamp, _ end: Timestamp, ordinal: Int = 0, log: String? = nil
  ) -> UUID {
    SampleIdentity.uuid(
      kind: "fitbit", type: type, source: [source.name, log].compactMap(\.self).joined(separator: " "), start: start,
      end: end, created: nil, ordinal: ordinal)
  }

  private mutating func skip(_ what: String, _ place: Place) {
    collector.report.skipped.add("Fitbit, \(what)") { place.line }
  }
}

/// Parses the numbers in Fitbit's files, which are JSON numbers or texts.
enum FitbitNumber {
  /// Returns the number, or `nil` if the value is not a number or is out of range.
  static func of(_ value: JSONValue?, in range: ClosedRange<Double>) -> Double? {
    switch value {
    case .integer(let integer): range.contains(Double(integer)) ? Double(integer) : nil
    case .number(let number): range.contains(number) ? number : nil
    case .string(let text): of(text, in: range)
    default: nil
    }
  }

  static func of(_ text: String?, in range: ClosedRange<Double>) -> Double? {
    guard let text, text.utf8.count <= 40, let number = Double(text), range.contains(number) else { return nil }
    return number
  }
}

extension Timestamp {
  /// The number of UTC days since 1970-01-01.
  fileprivate var day: Int { Int(seconds / 86_400) }
}

extension SampleType {
  /// Returns a HealthKit quantity type from its short name, such as `StepCount`.
  static func quantity(_ name: String) -> SampleType { SampleType("HKQuantityTypeIdentifier" + name) }
}
