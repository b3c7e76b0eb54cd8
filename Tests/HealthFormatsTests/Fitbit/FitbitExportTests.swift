import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests with two invented days in New York, the second of which has 25 hours. The expected values were counted by
/// hand.
@Suite struct FitbitExportTests {
  /// The path of the `Fitbit` folder.
  static let takeout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/Takeout").path
  private static let days = ["2025-11-01", "2025-11-02"]
  private let zone: TimeZone

  init() throws { zone = try #require(TimeZone(identifier: "America/New_York")) }

  /// The complete result of reading an export.
  struct Found {
    var samples: [Sample] = []
    var readings: [Sample] = []
    var report = ImportReport()

    init(_ path: String, _ options: ReadingOptions = ReadingOptions()) throws {
      guard case .samples(let file as FitbitExport) = try ImportFile.recognise(path) else {
        throw ImportError.notAnExport(path: path, looksLike: "no Fitbit export")
      }
      var (samples, readings): ([Sample], [Sample]) = ([], [])
      report = try file.read(options, progress: { _ in }) { batch in
        samples += try batch.changes.samples.map(batch.changes.sample)
        readings += batch.readings
      }
      (self.samples, self.readings) = (samples, readings)
    }

    func values(_ type: String, on day: String, in zone: TimeZone) -> [Double] {
      samples.filter { $0.type == .quantity(type) && $0.start.date(in: zone) == day }.map {
        if case .quantity(let quantity) = $0.payload { quantity.value } else { .nan }
      }
    }

    /// Returns the minutes of a sleep stage within a time range.
    func minutes(_ value: Int64, of hours: ClosedRange<String>) -> Double {
      let (start, end) = (Timestamp(iso8601: hours.lowerBound), Timestamp(iso8601: hours.upperBound))
      return samples.reduce(0) { sum, sample in
        guard case .category(let category) = sample.payload, category.value == value, let start, let end,
          sample.start >= start, sample.end <= end
        else { return sum }
        return sum + Double(sample.end.microseconds - sample.start.microseconds) / 60_000_000
      }
    }
  }

  private func sum(_ type: String, _ found: Found) -> [Double] {
    Self.days.map { found.values(type, on: $0, in: zone).reduce(0, +) }
  }

  @Test("steps and distances are in UTC, and counted once although tables have them again")
  func streams() throws {
    let found = try Found(Self.takeout)
    #expect(sum("StepCount", found) == [600, 280])
    #expect(sum("DistanceWalkingRunning", found).map { ($0 * 100).rounded() } == [45_000, 21_000])
    #expect(found.values("StepCount", on: "2025-11-03", in: zone).isEmpty)
    #expect(Set(found.samples.map(\.source.name)) == ["Fitbit"])
  }

  @Test("all heart rates are there, with how sure the tracker was")
  func heartRates() throws {
    let found = try Found(Self.takeout)
    let rates = Self.days.map { found.values("HeartRate", on: $0, in: zone).sorted() }
    #expect(rates == [[48, 52, 60, 70, 88, 96], [54, 55, 58, 63, 101]])
    let unsure = found.samples.filter { $0.metadata["fitbit.confidence"] == .integer(0) }
    #expect(unsure.map(\.start) == [Timestamp(iso8601: "2025-11-01T12:30:15Z")])
  }

  @Test("numbers of days are of the local day, and days that were filled up have none")
  func numbersOfDays() throws {
    let found = try Found(Self.takeout)
    let rates = found.samples.filter { $0.type == .quantity("RestingHeartRate") }
    #expect(Self.days.map { found.values("RestingHeartRate", on: $0, in: zone) } == [[58.31], [57.88]])
    #expect(rates.count == 2)
    #expect(rates.map { ($0.end.seconds - $0.start.seconds) / 3600 } == [24, 25])
    #expect(found.values("HeartRateVariabilityRMSSD", on: "2025-11-02", in: zone) == [41.2])
    let oxygen =
      found.values("OxygenSaturation", on: "2025-11-02", in: zone)
      + found.values("OxygenSaturation", on: "2025-11-01", in: zone)
    // 50.0 is no measurement.
    #expect(oxygen.map { ($0 * 1000).rounded() / 10 }.sorted() == [94.8, 95.2, 96.0])
  }

  @Test("weights are pounds, whatever the profile is set to; one without a time of day is of the day")
  func weights() throws {
    let found = try Found(Self.takeout)
    let weights = found.samples.filter { $0.type == .quantity("BodyMass") }
    #expect(
      Self.days.map { found.values("BodyMass", on: $0, in: zone).map { ($0 * 100).rounded() } } == [[8001], [7979]])
    #expect(weights.map { $0.start.iso8601(in: zone) } == ["2025-11-01T07:52:10-04:00", "2025-11-02T00:00:00-04:00"])
    #expect(weights.map { $0.end.iso8601(in: zone) } == ["2025-11-01T07:52:10-04:00", "2025-11-03T00:00:00-05:00"])
    #expect(found.values("BodyFatPercentage", on: "2025-11-01", in: zone) == [0.215])
  }

  /// The time ranges of the sleeps.
  private static let first = "2025-11-01T03:40:30Z"..."2025-11-01T11:11:00Z"
  private static let nap = "2025-11-01T18:05:00Z"..."2025-11-01T19:00:00Z"
  private static let second = "2025-11-02T03:10:00Z"..."2025-11-02T11:40:00Z"

  private func expectSleep(_ found: Found) {
    // Awake, core, deep, REM; the last half minute is beyond the whole minutes that the log gives.
    #expect([2, 3, 4, 5].map { found.minutes($0, of: Self.first).rounded(.down) } == [17, 286, 58, 89])
    #expect([2, 3, 4, 5].map { found.minutes($0, of: Self.second) } == [19, 324, 68, 99])
    #expect([1, 2].map { found.minutes($0, of: Self.nap) } == [48, 7])
    #expect([Self.first, Self.nap, Self.second].map { found.minutes(0, of: $0) } == [450.5, 55, 510])
    #expect(found.samples.count { $0.payload == .category(CategoryValue(value: 0)) } == 3)
  }

  @Test("a sleep is there once, at its instants, and short wakes lie over its stages")
  func sleep() throws { expectSleep(try Found(Self.takeout)) }

  @Test("where the stamps of a night have the offset of its end, its instants are the same")
  func newOffset() throws {
    let folder = try copy()
    let path = "\(folder.path)/Fitbit/Global Export Data/sleep-2025-11-01.json"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let night = try #require(text.range(of: #""logId": 50000000003"#))
    let rest = text[night.lowerBound...]
    let end = rest.range(of: #""logId": 5000000000"#, range: rest.index(after: rest.startIndex)..<rest.endIndex)
    let moved = rest[..<(end?.lowerBound ?? rest.endIndex)]
    let shifted = moved.replacing(/(2025-11-0\d)T(\d\d):/) { match -> String in
      let hour = (Int(match.2) ?? 0) - 1
      return hour < 0 ? "2025-11-01T23:" : "\(match.1)T\(hour < 10 ? "0" : "")\(hour):"
    }
    try (text[..<night.lowerBound] + shifted + rest[moved.endIndex...]).write(
      toFile: path, atomically: true, encoding: .utf8)
    expectSleep(try Found(folder.path))
  }

  @Test("exercises are workouts")
  func exercises() throws {
    let found = try Found(Self.takeout)
    let workouts = found.samples.filter { $0.type == .workout }.sorted { $0.start < $1.start }
    #expect(
      workouts.map { $0.start.iso8601(in: zone) } == ["2025-11-01T21:25:00-04:00", "2025-11-02T09:00:00-05:00"])
    #expect(workouts.map { ($0.end.seconds - $0.start.seconds) / 60 } == [15, 13])
    guard case .workout(let walk) = workouts[0].payload, case .workout(let run) = workouts[1].payload else {
      Issue.record("no workouts")
      return
    }
    #expect([walk, run].map(\.activityType.displayName) == ["Walking", "Running"])
    #expect(run.totals == ["totalEnergyBurned": Quantity(110, "kcal"), "totalDistance": Quantity(1.25, "mi")])
    #expect(walk.statistics.map(\.sum) == [145, nil])
    #expect(workouts.map { $0.metadata["HKWasUserEntered"] } == [nil, "1"])
  }

  @Test("what is not read is named with the number of its files; descriptions are not")
  func unread() throws {
    let found = try Found(Self.takeout)
    let names = found.report.skipped.keys.map {
      $0.replacing("Fitbit: files of ", with: "").replacing(", which are not read", with: "")
    }
    #expect(
      names.sorted() == [
        "Active Zone Minutes", "Computed Temperature", "Daily SpO2", "Device Temperature", "Glucose",
        "Heart Rate Variability Details", "calories", "sedentary_minutes", "sleep_score", "time_in_heart_rate_zones",
        "very_active_minutes",
      ])
    #expect(found.report.isComplete)
    #expect(found.report.remarks.keys.contains { $0.contains("America/New_York") })
  }

  @Test("the zone that a person names counts before that of the profile, that before the home zone")
  func zones() throws {
    var options = ReadingOptions()
    options.homeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
    #expect(try Found(Self.takeout, options).samples == Found(Self.takeout).samples)
    options.zone = TimeZone(identifier: "Europe/Berlin")
    let weights = try Found(Self.takeout, options).samples.filter { $0.type == .quantity("BodyMass") }
    #expect(weights.first?.start == Timestamp(iso8601: "2025-11-01T06:52:10Z"))
    let folder = try copy()
    try FileManager.default.removeItem(atPath: "\(folder.path)/Fitbit/Your Profile")
    options.zone = nil
    let tokyo = try Found(folder.path, options).samples.filter { $0.type == .quantity("BodyMass") }
    #expect(tokyo.first?.start == Timestamp(iso8601: "2025-10-31T22:52:10Z"))
  }

  // MARK: Containers

  private func copy() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: "\(Self.takeout)/Fitbit", toPath: "\(folder.path)/Fitbit")
    return folder
  }

  private static func files() throws -> [(name: String, bytes: [UInt8])] {
    try FileManager.default.subpathsOfDirectory(atPath: takeout).sorted().compactMap { name in
      let path = "\(takeout)/\(name)"
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
        return nil
      }
      return (name, Array(try Data(contentsOf: URL(filePath: path))))
    }
  }

  @Test("a zip, the parts of one, the older layout and today's name of the folder give the same samples")
  func containers() throws {
    let whole = try Found(Self.takeout)
    let folder = try TemporaryFolder()
    let files = try Self.files()
    var zip = ZipBytes()
    for file in files { zip.add("Takeout/\(file.name.replacing("Fitbit/", with: "Google Health/"))", file.bytes) }
    #expect(try Found(try folder.write(zip.withDirectory, to: "one.zip")).samples == whole.samples)
    var parts = [ZipBytes(), ZipBytes()]
    for (index, file) in files.enumerated() { parts[index % 2].add("Takeout/\(file.name)", file.bytes) }
    for (index, part) in parts.enumerated() {
      try folder.write(part.withDirectory, to: "parts/takeout-20251103T000000Z-1-00\(index).zip")
    }
    try folder.write(ZipBytes().withDirectory, to: "parts/other.zip")
    let found = try Found("\(folder.path)/parts")
    #expect(found.samples == whole.samples)
    #expect(found.report.skipped.keys.contains { $0.contains("zip files") })
    for file in files {
      try folder.write(file.bytes, to: "old/user-site-export/\(file.name.split(separator: "/").last ?? "")")
    }
    #expect(try Found("\(folder.path)/old").samples == whole.samples)
  }

  @Test("one of the files is enough, and a list of something else is none")
  func oneFile() throws {
    let folder = try copy()
    let path = "\(folder.path)/Fitbit/Global Export Data/steps-2025-11-01.json"
    #expect(try Found(path).samples.count == 12)
    let other = try folder.write(#"[{"id":1}]"#, to: "steps-2025-01-01.json")
    #expect(throws: ImportError.self) { try ImportFile.recognise(other) }
  }

  @Test("a folder with an Apple Health export, too, is refused: neither is left out in silence")
  func both() throws {
    let folder = try copy()
    try folder.write(ExportText(ExportText.record()).text, to: "apple_health_export/export.xml")
    #expect(throws: SampleFileError.self) { try ImportFile.recognise(folder.path) }
  }

  @Test("tables are read for days that the JSON lacks, each of their sources by its name")
  func tables() throws {
    let folder = try copy()
    let json = "\(folder.path)/Fitbit/Global Export Data"
    for name in try FileManager.default.contentsOfDirectory(atPath: json)
    where ["steps", "heart", "weight", "resting"].contains(where: name.hasPrefix) {
      try FileManager.default.removeItem(atPath: "\(json)/\(name)")
    }
    let found = try Found(folder.path)
    let steps = found.samples.filter { $0.type == .quantity("StepCount") }
    let sums = Dictionary(grouping: steps, by: \.source.name).mapValues { samples in
      samples.reduce(0) { sum, sample in
        if case .quantity(let quantity) = sample.payload { sum + quantity.value } else { .nan }
      }
    }
    #expect(sums == ["Fitbit Charge 6": 880, "Fitbit Phone Health Connect": 430])
    #expect(found.samples.filter { $0.type == .quantity("BodyMass") }.count == 2)
    #expect(Self.days.map { found.values("RestingHeartRate", on: $0, in: zone) } == [[58.31], [57.88]])
  }

  @Test("the profile says whose record it is")
  func person() throws {
    let folder = try copy()
    try folder.write(
      "full_name,date_of_birth,gender,timezone\nSample Person,1986-05-17,FEMALE,America/New_York\n",
      to: "Fitbit/Your Profile/Profile.csv")
    guard case .samples(let file) = try ImportFile.recognise(folder.path) else { return }
    let person = try file.personReadings().person
    #expect(person[.dateOfBirth] == "1986-05-17" && person[.biologicalSex] == "HKBiologicalSexFemale")
    #expect(try Found(folder.path).readings.count == 2)
    #expect(try Found(Self.takeout).readings.isEmpty)
  }

  @Test("what is damaged is left out and named, and the rest is read")
  func damage() throws {
    let folder = try copy()
    let path = "Fitbit/Global Export Data/steps-2025-11-01.json"
    let text = try String(contentsOfFile: "\(folder.path)/\(path)", encoding: .utf8)
    try folder.write(String(text.prefix(200)), to: path)
    try folder.write(
      #"[{"dateTime":"13/45/25 04:00:00","value":"7"},{"dateTime":"11/01/25 04:00:00","value":"1e300"},7]"#,
      to: "Fitbit/Global Export Data/steps-2025-12-01.json")
    let found = try Found(folder.path)
    #expect(found.samples.filter { $0.type == .quantity("StepCount") }.count > 0)
    #expect(found.report.skipped.keys.filter { $0.contains("steps-2025-11-01.json from somewhere on") }.count == 1)
    #expect(found.report.skipped["Fitbit, steps-2025-12-01.json: a row without a readable time and number"]?.count == 2)
    #expect(found.samples.filter { $0.type == .quantity("HeartRate") }.count == 11)
  }
}
