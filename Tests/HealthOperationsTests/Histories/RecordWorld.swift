import Foundation
import HealthModel
import TestSupport

/// Four days of a person's health data, with the exports and app messages that report it.
struct RecordWorld: Sendable {
  /// The identity of a sample of a type whose samples differ in their start.
  struct Key: Hashable, Comparable, CustomStringConvertible, Sendable {
    var type: String
    var start: Int64

    init(type: String, start: Int64) { (self.type, self.start) = (type, start) }

    init(_ sample: Sample) { self.init(type: sample.type.rawValue, start: sample.start.seconds) }

    static func < (one: Key, other: Key) -> Bool { (one.type, one.start) < (other.type, other.start) }

    var description: String { "\(SampleType(type).shortName) at \(start - RecordWorld.start)" }
  }

  /// An export in Apple's XML format.
  struct Export: Sendable {
    var name: String
    var text: String
    /// The keys of the samples in the complete export, even if the file is truncated.
    var keys: Set<Key>
    /// Whether the file is truncated.
    var isCut: Bool
    /// The tracks of its workouts by path. Some are missing, as if they had not been copied.
    var tracks: [String: String] = [:]
  }

  /// A message that an app sends.
  struct Body: Sendable {
    var sender: String
    var text: String
  }

  /// Noon of 10 June 2024, in UTC.
  static let start: Int64 = 1_718_020_800
  static let days = 4
  /// The only type of which several samples start at the same time.
  static let meal = "HKQuantityTypeIdentifierDietaryEnergyConsumed"

  var exports: [Export] = []
  var bodies: [Body] = []

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let records = (0..<Int.random(in: 6...24, using: &random)).map { _ in Self.record(&random) }
    var unique: [Key: Record] = [:]
    for record in records { unique[record.key] = record }
    let all = unique.values.sorted { $0.key < $1.key }
    for number in 0..<Int.random(in: 2...5, using: &random) {
      exports.append(Self.export(number, all, &random))
    }
    bodies = (0..<Int.random(in: 2...6, using: &random)).map { _ in Self.body(all, &random) }
  }

  // MARK: Records

  private struct Record {
    var key: Key
    var xml: String
    /// The value, if the record is a heart rate.
    var rate: Int?
    /// The path and content of the track, if the record is a workout with a route.
    var track: (path: String, text: String)?
  }

  private static func record(_ random: inout SeededGenerator) -> Record {
    let second = start + Int64.random(in: 0..<Int64(days * 1_440), using: &random) * 60
    let value = Int.random(in: 50..<150, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0...2:
      return Record(
        key: Key(type: "HKQuantityTypeIdentifierHeartRate", start: second),
        xml: element(
          "HKQuantityTypeIdentifierHeartRate", "Watch", second, second, #"unit="count/min" value="\#(value)""#),
        rate: value)
    case 3, 4:
      return Record(
        key: Key(type: "HKQuantityTypeIdentifierStepCount", start: second),
        xml: element(
          "HKQuantityTypeIdentifierStepCount", random.pick(["Watch", "iPhone"]), second, second + 600,
          #"unit="count" value="\#(value)""#))
    case 5:
      return Record(
        key: Key(type: "HKQuantityTypeIdentifierBodyMass", start: second),
        xml: element("HKQuantityTypeIdentifierBodyMass", "Scale", second, second, #"unit="kg" value="\#(value).5""#))
    case 6:
      return Record(
        key: Key(type: "HKCategoryTypeIdentifierSleepAnalysis", start: second),
        xml: element(
          "HKCategoryTypeIdentifierSleepAnalysis", "Watch", second, second + 1_800,
          #"value="HKCategoryValueSleepAnalysisAsleepCore""#))
    case 7:
      return Record(
        key: Key(type: "HKCorrelationTypeIdentifierBloodPressure", start: second), xml: pressure(second, value))
    default:
      let key = Key(type: "HKWorkoutTypeIdentifier", start: second)
      guard random.oneIn(2) else { return Record(key: key, xml: workout(second, value)) }
      let path = "workout-routes/route_\(second).gpx"
      return Record(key: key, xml: workout(second, value, path: path), track: (path, track(second)))
    }
  }

  private static func element(
    _ type: String, _ source: String, _ start: Int64, _ end: Int64, _ rest: String
  ) -> String {
    #"<Record type="\#(type)" sourceName="\#(source)" creationDate="\#(date(end))" startDate="\#(date(start))" endDate="\#(date(end))" \#(rest)/>"#
  }

  /// Returns a blood pressure and its members, which Apple's export also lists on their own.
  private static func pressure(_ second: Int64, _ value: Int) -> String {
    let members = [("Systolic", value + 40), ("Diastolic", value)].map {
      element(
        "HKQuantityTypeIdentifierBloodPressure\($0)", "Cuff", second, second, #"unit="mmHg" value="\#($1)""#)
    }.joined(separator: "\n")
    return """
      <Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Cuff" creationDate="\(date(second))" startDate="\(date(second))" endDate="\(date(second))">
      \(members)
      </Correlation>
      \(members)
      """
  }

  /// Returns a route in the Health app's format.
  private static func track(_ second: Int64) -> String {
    let points = (0..<4).map { index in
      let time = Timestamp(seconds: second + Int64(index)).iso8601
      return #"<trkpt lon="13.4\#(index)" lat="52.5"><ele>34.5</ele><time>\#(time)</time></trkpt>"#
    }
    return #"""
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="Apple Health Export" xmlns="http://www.topografix.com/GPX/1/1">
      <trk><name>Route</name><trkseg>\#(points.joined(separator: "\n"))</trkseg></trk>
      </gpx>
      """#
  }

  private static func workout(_ second: Int64, _ value: Int, path: String? = nil) -> String {
    let (start, end) = (date(second), date(second + 1_800))
    let route = path.map { path in
      """
      <WorkoutRoute sourceName="Watch" creationDate="\(end)" startDate="\(start)" endDate="\(date(second + 3))">
      <FileReference path="/\(path)"/>
      </WorkoutRoute>
      """
    }
    return """
      <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" durationUnit="min" sourceName="Watch" creationDate="\(end)" startDate="\(start)" endDate="\(end)">
      <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" startDate="\(start)" endDate="\(end)" sum="\(value)" unit="Cal"/>
      \(route ?? "")
      </Workout>
      """
  }

  // MARK: Exports

  private static func export(_ number: Int, _ all: [Record], _ random: inout SeededGenerator) -> Export {
    // A later one knows more of the days, and may lack what was deleted on the phone.
    let end = start + Int64(min(days, number + 1)) * 86_400
    var held = all.filter { $0.key.start < end && !random.oneIn(8) }
    held.shuffle(using: &random)
    var elements = held.map(\.xml) + meals(&random)
    elements.insert(contentsOf: summaries(number, &random), at: 0)
    // Two on one day differ by hours.
    let exported = date(start + Int64(number + 5) * 86_400 + Int64.random(in: 0..<3_600, using: &random))
    let isCut = random.oneIn(6)
    if isCut { elements.removeLast(Int.random(in: 0..<max(1, elements.count), using: &random)) }
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="en_DE">
      <ExportDate value="\(exported)"/>
      <Me HKCharacteristicTypeIdentifierDateOfBirth="1987-03-01" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"/>
      \(elements.joined(separator: "\n"))
      \(isCut ? "" : "</HealthData>\n")
      """
    // Some are copied without their folders.
    let tracks = random.oneIn(3) ? [] : held.compactMap(\.track).filter { _ in !random.oneIn(6) }
    return Export(
      name: "export-\(number)", text: text, keys: Set(held.map(\.key)), isCut: isCut,
      tracks: Dictionary(tracks.map { ($0.path, $0.text) }, uniquingKeysWith: { first, _ in first }))
  }

  /// Returns meals of the same minute that differ only in their values.
  private static func meals(_ random: inout SeededGenerator) -> [String] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in
      element(
        meal, "Food", start + 300, start + 300,
        #"unit="kcal" value="\#(random.pick([77, 250, 410]))""#)
    }
  }

  private static func summaries(_ number: Int, _ random: inout SeededGenerator) -> [String] {
    (0..<min(days, number + 1)).map { day in
      let energy = day == number ? Int.random(in: 100..<300, using: &random) : 853
      return """
        <ActivitySummary dateComponents="2024-06-\(10 + day)" activeEnergyBurned="\(energy)" activeEnergyBurnedGoal="500" activeEnergyBurnedUnit="kcal" appleExerciseTime="\(energy / 10)" appleExerciseTimeGoal="30" appleStandHours="8" appleStandHoursGoal="12"/>
        """
    }
  }

  // MARK: Apps

  private static func body(_ all: [Record], _ random: inout SeededGenerator) -> Body {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let rates = all.compactMap { record in record.rate.map { (record.key.start, $0) } }
      let samples = rates.filter { _ in random.oneIn(2) }.map(transfer)
      return Body(sender: "transfer", text: "[\(samples.joined(separator: ","))]")
    case 1:
      let text = SenderBodies.dailySummary.replacing("2026-03-28", with: "2024-06-12")
      return Body(
        sender: "summary", text: text.replacing("8432", with: "\(Int.random(in: 1...3, using: &random) * 1_000)"))
    case 2:
      let text = SenderBodies.healthPush.replacing("2026-04", with: "2024-06")
      return Body(
        sender: "push", text: text.replacing("8432", with: "\(Int.random(in: 1...3, using: &random) * 1_000)"))
    default:
      return Body(
        sender: random.pick(["phone", "tablet"]),
        text: SenderBodies.autoExport(
          steps: Int.random(in: 1...4, using: &random) * 1_000,
          day: "2024-06-\(Int.random(in: 10...12, using: &random))"))
    }
  }

  /// Returns an export's heart rate in HealthAppTransfer's format, with HealthKit's own UUID.
  private static func transfer(_ second: Int64, _ rate: Int) -> String {
    let id = String(format: "B3F1C2A4-1111-4222-8333-%012X", second)
    let date = Timestamp(seconds: second).iso8601
    return
      #"{"endDate":"\#(date)","id":"\#(id)","sourceBundleIdentifier":"com.apple.health.watch","sourceName":"Watch","startDate":"\#(date)","type":"heartRate","unit":"count/min","value":\#(rate)}"#
  }

  /// Returns a date in the format of Apple's export.
  private static func date(_ second: Int64) -> String {
    let text = Timestamp(seconds: second).iso8601
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) +0000"
  }
}
