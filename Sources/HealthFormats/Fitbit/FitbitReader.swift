import Foundation
import HealthModel

/// Makes samples of the files of an export, one file after the other.
struct FitbitReader {
  static let source = Source(name: "Fitbit")
  /// In bytes, of one row of numbers.
  private static let longestRow = 64 << 10
  /// Of a log of a night or an exercise.
  private static let longestLog = 4 << 20

  /// Asked now and then; throws to stop.
  var check: () throws -> Void = {}
  private var rowCount = 0
  /// Of clock times without an offset.
  let zone: TimeZone
  var collector: SampleCollector
  var weights = FitbitWeights()
  private var sleeps = FitbitSleeps()
  private var exercises: Set<Int64> = []
  /// The days in UTC, and of daily numbers the dates, of which the JSON of a family has a row.
  private var days: [FitbitFamily: Set<Int>] = [:]

  init(zone: TimeZone, collector: SampleCollector) {
    self.zone = zone
    self.collector = collector
  }

  /// - Parameter name: of the file.
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

  /// Says which zone clock times were read in, for nothing in the files does for sure.
  mutating func noteZone(isSaid: Bool, isInProfile: Bool) {
    let origin = isSaid ? "as was said" : isInProfile ? "as Profile.csv says of today" : "the home zone"
    collector.report.remarks.add("Fitbit: clock times without a zone, read as those of \(zone.identifier), \(origin)") {
      nil
    }
  }

  // MARK: Files

  /// On which line a row is, where that is known, and how many bytes of text it is.
  struct Place {
    var line: Int?
    var weight: Int
  }

  /// How many rows there are between two questions whether to stop.
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
    // What has nothing in it may say so in words.
    guard try scanner.peek() == UInt8(ascii: "[") else { return }
    try scanner.beginArray()
    while try scanner.nextElement() {
      try step()
      let (bytes, offset) = try scanner.value(limit: limit)
      // To find a line takes as long as to read all that is before it.
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

  /// A number every few seconds or minutes.
  private struct Stream {
    var type: SampleType
    var unit: String
    /// Seconds that one row is about.
    var length: Int64
    /// What a row can be; zero says nothing of what is counted.
    var range: ClosedRange<Double>
    /// What one in JSON is in ``unit``.
    var factor = 1.0
    var column: String

    static let steps = Stream(
      type: .quantity("StepCount"), unit: "count", length: 60, range: 0...100_000, column: "steps")
    /// Centimetres in JSON, metres in tables.
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
      // Phone, tracker and what other apps sent stand side by side: as sources of their own they are not added up.
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
    // Days without one are filled up.
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

  /// Of a whole local day.
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
    // What it writes where it could not measure.
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
    // What was typed in without a time of day has the last second of it.
    if !timeText.hasPrefix("23:59:59") {
      start = zone.first(of: CivilTime(day: date, second: Int(time.seconds) - date * 86_400))
      end = start
    }
    days[.weight, default: []].insert(date)
    let index = FitbitNumber.of(row["bmi"], in: 1...500)
    let kilograms = weights.kilograms(number, bodyMassIndex: index)
    // Two of one day may both be without a time.
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
    // All of them are made of one text.
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

  /// Of a kind of its own: what an Apple Health export says of such a sample is another one.
  ///
  /// - Parameters:
  ///   - ordinal: tells apart what has one second.
  ///   - log: the number of what it comes from, where that has one.
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

/// Numbers as Fitbit writes them: as numbers or as texts.
enum FitbitNumber {
  /// `nil` of what is none, or out of its range.
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
  /// In UTC, since 1970-01-01.
  fileprivate var day: Int { Int(seconds / 86_400) }
}

extension SampleType {
  /// One of HealthKit's quantities.
  static func quantity(_ name: String) -> SampleType { SampleType("HKQuantityTypeIdentifier" + name) }
}
