import Foundation
import HealthModel

/// An export of a Fitbit account: a folder or zip of Google Takeout, a folder of such zips, the older export of fitbit.com, or one
/// of their files.
///
/// ```swift
/// func count(_ path: String) throws -> [SampleType: Int] {
///   guard case .samples(let export as FitbitExport) = try ImportFile.recognise(path) else { return [:] }
///   var counts: [SampleType: Int] = [:]
///   _ = try export.read(ReadingOptions(), progress: { _ in }) { counts.merge($0.countsByType, uniquingKeysWith: +) }
///   return counts
/// }
/// ```
///
/// Values that have a HealthKit type become samples of that type, with the source `Fitbit`. Their UUIDs are derived
/// from type, time and source, so a later export that contains the same day adds nothing if clock times are read in
/// the same time zone. Most streams exist both as JSON and as CSV tables: a table is read only for days that the JSON
/// lacks. The name of a file determines its content; its folder does not matter.
///
/// Intraday JSON, exercises and tables are in UTC. Sleep, weights and days are in local time, whose zone no file
/// states: see ``ReadingOptions/zone``. Instants of sleep come from `UserSleeps_*.csv` if that file has them.
public struct FitbitExport: RecordFormat {
  public let path: String
  private let files: FitbitFiles

  public var road: SampleRoad { .file }

  public var workBytes: Int64 { files.families.reduce(0) { $0 + $1.file.size } }

  public static func recognise(_ candidate: ImportCandidate) throws -> FitbitExport? {
    guard let files = FitbitFiles(of: candidate) else { return nil }
    // A folder of downloads may hold both exports, and neither may be left out silently.
    if (try? AppleHealthExport.all(at: candidate.path)) != nil {
      throw SampleFileError.severalFormats(
        path: candidate.path, formats: ["an Apple Health export", "a Fitbit export"])
    }
    return FitbitExport(path: candidate.path, files: files)
  }

  public func personReadings(progress: @escaping (_ bytes: Int64) throws -> Void) throws -> PersonReadings {
    var readings = PersonReadings()
    for sample in FitbitProfile(FitbitContent(files).profile()).characteristics { readings.add(sample) }
    return readings
  }

  public func read(
    _ options: ReadingOptions, progress: @escaping (_ bytes: Int64) throws -> Void,
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    let content = FitbitContent(files)
    let profile = FitbitProfile(content.profile())
    var reader = FitbitReader(
      zone: options.zone ?? profile.zone ?? options.homeZone, collector: SampleCollector(size: 32_000, deliver: deliver)
    )
    for sample in profile.characteristics { try reader.collector.add(sample, isReading: true) }
    reader.noteZone(isSaid: options.zone != nil, isInProfile: profile.zone != nil)
    if let height = profile.height { reader.weights.add(height: height) }
    var bytes: Int64 = 0
    for (family, file) in files.families {
      let before = bytes
      reader.check = { try progress(before) }
      do {
        try content.read(file) { source in try reader.read(family, source, named: file.name) }
      } catch is SampleFileError {
        reader.collector.report.skipped.add("\(file.name) from somewhere on, which cannot be read") { nil }
      } catch is ImportError {
        // The entry is damaged in its zip file, not readable for us, or has changed.
        reader.collector.report.skipped.add("\(file.name), which cannot be read") { nil }
      }
      bytes += file.size
      try progress(bytes)
    }
    for (name, count) in files.unread {
      reader.collector.report.skipped.add("Fitbit: files of \(name), which are not read", .init(count: count))
    }
    reader.collector.report.isComplete = true
    return try reader.collector.finish()
  }
}

/// The parts of `Profile.csv` that an import uses.
struct FitbitProfile {
  /// The time zone at the time of the export; earlier zones are not recorded.
  var zone: TimeZone?
  /// The person's height in metres.
  var height: Double?
  private var dateOfBirth: String?
  private var sex: String?

  /// - Parameter row: the fields, keyed by column name.
  init(_ row: [String: String]) {
    zone = row["timezone"].flatMap { $0.utf8.count <= 64 ? TimeZone(identifier: $0) : nil }
    height = row["height"].flatMap(Double.init).map { $0 / 100 }
    if let date = row["date_of_birth"], date.utf8.count == 10, Timestamp(iso8601: date) != nil { dateOfBirth = date }
    sex =
      switch row["gender"] {
      case "FEMALE": "HKBiologicalSexFemale"
      case "MALE": "HKBiologicalSexMale"
      default: nil
      }
  }

  /// The person's date of birth and sex as samples of characteristics.
  var characteristics: [Sample] {
    [(Person.Trait.dateOfBirth, dateOfBirth), (.biologicalSex, sex)].compactMap { trait, value in
      guard let value else { return nil }
      let epoch = Timestamp(seconds: 0)
      var sample = Sample(
        uuid: .undecided, type: trait.type, start: epoch, end: epoch, source: .health,
        payload: .characteristic(CharacteristicValue(value: value)))
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return sample
    }
  }
}
