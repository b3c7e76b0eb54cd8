import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import TestSupport
import Testing

/// Tests that import a phone's data in the files and messages of each app, in random order, into two homes that pull
/// from each other: each sample is shown once and never loses detail, and deleted samples don't return.
@Suite(.timeLimit(.minutes(5))) struct FileRoadTests {
  private enum Road: String, CaseIterable {
    case appleExport, json1, json2, table, transferInbox, healthSync, autoExportInbox
  }

  private static let pressure = SampleType("HKCorrelationTypeIdentifierBloodPressure")
  private static let types = [
    SampleType("HKQuantityTypeIdentifierHeartRate"), SampleType("HKQuantityTypeIdentifierBloodPressureSystolic"),
    SampleType("HKQuantityTypeIdentifierBloodPressureDiastolic"), pressure, .workout,
  ]

  @Test(arguments: 0..<5 as Range<UInt64>)
  func everySampleIsShownOnce(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let homes = [try TestHome(), try TestHome()]
    var before: [[SampleType: Sample]] = [[:], [:]]
    for road in Road.allCases.shuffled(using: &random) {
      let index = Int.random(in: 0...1, using: &random)
      let note = Comment("seed \(seed), \(road) into \(index)")
      try await take(road, into: homes[index])
      before[index] = try await shown(homes[index], since: before[index], note)
      if Int.random(in: 0...2, using: &random) == 0 {
        try await pull(homes[index], from: homes[1 - index])
        before[index] = try await shown(homes[index], since: before[index], note)
      }
    }
    try await meet(homes)
    for (index, home) in homes.enumerated() {
      let last = try await shown(home, since: before[index], "seed \(seed), home \(index)")
      #expect(Set(last.keys) == Set(Self.types), "seed \(seed)")
      // As the export has it.
      #expect(last.values.allSatisfy { $0.uuid.isDerived && $0.created != nil && $0.device != nil }, "seed \(seed)")
    }
    #expect(try await homes[0].store.digests.current().record == homes[1].store.digests.current().record)

    for type in Self.types { #expect(try await homes[0].store.samples.delete(type, in: Self.always) == 1) }
    try await meet(homes)
    for road in Road.allCases.shuffled(using: &random) {
      for home in homes {
        try await take(road, into: home)
        let types = try await home.store.samples.typeCounts().filter { $0.samples > 0 }.map(\.type)
        #expect(Set(types).isDisjoint(with: Self.types), "seed \(seed), \(road) again")
      }
    }
  }

  @Test("a symptom and an electrocardiogram of an export and of Health Auto Export are shown once")
  func listsOfHealthAutoExport() async throws {
    let home = try TestHome()
    let folder = home.directory.path("apple_health_export")
    let strip = (0..<600).map { "\(Double($0) / 7)" }
    let points = strip.map { #"{"voltage":\#($0),"units":"mcV"}"# }.joined(separator: ",")
    let files = [
      "apple_health_export/export.xml": """
      <?xml version="1.0" encoding="UTF-8"?><HealthData locale="en_DE"><ExportDate value="2024-06-16 08:00:00 +0200"/>
      <Me HKCharacteristicTypeIdentifierDateOfBirth="1990-01-01"/>
      <Record type="HKCategoryTypeIdentifierHeadache" sourceName="Health" creationDate="2024-06-15 09:00:00 +0200" \
      startDate="2024-06-15 08:00:00 +0200" endDate="2024-06-15 09:00:00 +0200" value="HKCategoryValueSeverityMild"/>
      </HealthData>
      """,
      "apple_health_export/electrocardiograms/ecg_2024-06-15.csv":
        "Name,A\nDate of Birth,\"Jun 12, 2006\"\nRecorded Date,2024-06-15 10:00:00 +0200\nClassification,Sinus Rhythm\n"
        + "Symptoms,\nSoftware Version,1.90\nDevice,\"Watch6,7\"\nSample Rate,512 hertz\n\n\nLead,Lead I\nUnit,µV\n\n"
        + strip.joined(separator: "\n") + "\n",
      "sent.json": """
      {"data":{"symptoms":[{"start":"2024-06-15 08:00:00 +0200","end":"2024-06-15 09:00:00 +0200","name":"Headache",
      "severity":"Mild","userEntered":true,"source":"Health"}],
      "ecg":[{"start":"2024-06-15 10:00:00 +0200","end":"2024-06-15 10:00:01 +0200","classification":"Sinus Rhythm",
      "averageHeartRate":61,"samplingFrequency":512,"numberOfVoltageMeasurements":600,"source":"Ada’s Apple Watch",
      "voltageMeasurements":[\(points)]}]}}
      """,
    ]
    for (name, text) in files {
      let url = URL(filePath: home.directory.path(name))
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    _ = try await home.importer(home.directory.path("sent.json")).run(into: home.store)
    let headache = SampleType("HKCategoryTypeIdentifierHeadache")
    #expect(try await home.store.samples.count(of: .electrocardiogram, in: nil) == 1)
    _ = try await home.importer(folder).run(into: home.store)
    #expect(try await home.store.samples.count(of: headache, in: nil) == 1)
    #expect(try await home.store.samples.count(of: .electrocardiogram, in: nil) == 1)
  }

  private static let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)

  private func pull(_ home: TestHome, from other: TestHome) async throws {
    try await home.store.apply([other.store.feed.codedChanges(since: .zero, limit: 1_000).changes])
  }

  private func meet(_ homes: [TestHome]) async throws {
    for _ in 0..<2 {
      try await pull(homes[0], from: homes[1])
      try await pull(homes[1], from: homes[0])
    }
  }

  /// Returns the samples that a home shows. Expects that each is shown once and with at least the earlier detail.
  private func shown(
    _ home: TestHome, since before: [SampleType: Sample], _ note: Comment
  ) async throws -> [SampleType: Sample] {
    var shown: [SampleType: Sample] = [:]
    for type in Self.types {
      let samples = try await home.store.samples.page(of: type, limit: 10)
      #expect(samples.count <= 1, note)
      shown[type] = samples.first
      guard let earlier = before[type] else { continue }
      let now = try #require(samples.first, note)
      #expect(now.device != nil || earlier.device == nil, note)
      #expect(now.created != nil || earlier.created == nil, note)
      #expect(now.source.version != nil || earlier.source.version == nil, note)
      #expect(earlier.payload.isPartial || !now.payload.isPartial, note)
      #expect(Set(earlier.metadata.keys).subtracting(now.metadata.keys).allSatisfy { $0.hasPrefix("h") }, note)
      if type == .workout, case .workout(let workout) = now.payload, case .workout(let old) = earlier.payload {
        #expect(workout.activityType == .value(35) || old.activityType != .value(35), note)
      }
    }
    return shown
  }

  private func take(_ road: Road, into home: TestHome) async throws {
    switch road {
    case .appleExport: try await take(Self.appleExport, named: "export.xml", into: home)
    case .json1: try await take("[\(Self.objects.joined(separator: ","))]", named: "v1.json", into: home)
    case .json2: try await take(Self.json2, named: "v2.json", into: home)
    case .table: try await take(Self.table, named: "all.csv", into: home)
    case .transferInbox: try await receive("[\(Self.objects.joined(separator: ","))]", into: home)
    case .autoExportInbox: try await receive(Self.autoExport, into: home)
    case .healthSync:
      var coder = ChangeCoder()
      for sample in Self.synchronised { try coder.add(sample, road: .healthSync) }
      try await home.store.apply([coder.changes])
    }
  }

  private func take(_ text: String, named name: String, into home: TestHome) async throws {
    var options = ImportOptions()
    options.rescans = true
    let result = try await home.importer(try home.file(name, text), options).run(into: home.store)
    #expect(result.report.isComplete && result.report.skipped.isEmpty, "\(name)")
  }

  private func receive(_ text: String, into home: TestHome) async throws {
    let body = try InboxBody(Array(text.utf8), now: .now)
    #expect(body.skipped.isEmpty)
    _ = try await home.store.receive(
      body.batches.map(\.changes), readings: body.batches.flatMap(\.readings), road: body.road, if: { _ in true })
  }

  // MARK: The phone's samples

  private static let ids = (0..<5).map { "B3F1C2A4-1111-4222-8333-00000000000\($0)" }

  /// Samples in HealthAppTransfer's JSON, which truncates times to seconds.
  private static let objects = [
    object(
      0, "heartRate", #""unit":"count\/min","value":62,"metadataJSON":"{\"HKMetadataKeyHeartRateMotionContext\":1}""#),
    object(1, "bloodPressureSystolic", #""unit":"mmHg","value":120"#),
    object(2, "bloodPressureDiastolic", #""unit":"mmHg","value":80.5"#),
    object(3, "bloodPressure", #""unit":"mmHg","correlationValues":{"diastolic":80.5,"systolic":120}"#),
    object(4, "workout", #""workoutActivityType":35,"workoutDuration":1800,"workoutTotalDistance":5000"#),
  ]

  private static func object(_ index: Int, _ type: String, _ content: String) -> String {
    """
    {"id":"\(ids[index])","type":"\(type)","startDate":"2024-06-15T10:3\(index):00Z",\
    "endDate":"2024-06-15T11:0\(index):00Z","sourceName":"Watch","sourceBundleIdentifier":"com.apple.health.W",\(content)}
    """
  }

  private static let json2 = """
    {"data":{"heartRate":[\(objects[0])],"bloodPressureSystolic":[\(objects[1])],\
    "bloodPressureDiastolic":[\(objects[2])],"bloodPressure":[\(objects[3])],"workout":[\(objects[4])]},\
    "metadata":{"exportDate":"2024-06-16T11:00:00Z","formatVersion":"2.0","sampleCount":5,"types":["heartRate"]}}
    """

  /// Samples in HealthAppTransfer's CSV, which rounds times to milliseconds.
  private static let table = """
    id,type,startDate,endDate,sourceName,sourceBundleIdentifier,value,unit,categoryValue,workoutActivityType,workoutDuration,workoutTotalEnergyBurned,workoutTotalDistance,correlationValues,characteristicValue,metadata
    \(row(0, "heartRate", #"62.0,count/min,,,,,,,,"{""HKMetadataKeyHeartRateMotionContext"":1}""#))
    \(row(1, "bloodPressureSystolic", "120.0,mmHg,,,,,,,,"))
    \(row(2, "bloodPressureDiastolic", "80.5,mmHg,,,,,,,,"))
    \(row(3, "bloodPressure", ",mmHg,,,,,,diastolic=80.5;systolic=120.0,,"))
    \(row(4, "workout", ",,,35,1800.0,,5000.0,,,"))

    """

  private static func row(_ index: Int, _ type: String, _ content: String) -> String {
    """
    \(ids[index]),\(type),2024-06-15T10:3\(index):00.988Z,2024-06-15T11:0\(index):00.400Z,Watch,com.apple.health.W,\
    \(content)
    """
  }

  private static let appleExport = """
    <?xml version="1.0" encoding="UTF-8"?>
    <HealthData locale="en_US">
     <ExportDate value="2024-06-16 13:00:00 +0200"/>
    \(record(0, "HeartRate", "count/min", "62", #"<MetadataEntry key="HKMetadataKeyHeartRateMotionContext" value="1"/>"#))
    \(record(1, "BloodPressureSystolic", "mmHg", "120"))
    \(record(2, "BloodPressureDiastolic", "mmHg", "80.5"))
     <Correlation type="HKCorrelationTypeIdentifierBloodPressure" \(common(3))>
    \(record(1, "BloodPressureSystolic", "mmHg", "120"))
    \(record(2, "BloodPressureDiastolic", "mmHg", "80.5"))
     </Correlation>
     <Workout workoutActivityType="HKWorkoutActivityTypeRowing" duration="30" durationUnit="min" \(common(4))/>
    </HealthData>
    """

  private static func common(_ index: Int) -> String {
    """
    sourceName="Watch" sourceVersion="10.1" device="&lt;&lt;HKDevice: 0x28&gt;, name:Apple Watch&gt;" \
    creationDate="2024-06-15 13:10:00 +0200" startDate="2024-06-15 12:3\(index):00 +0200" \
    endDate="2024-06-15 13:0\(index):00 +0200"
    """
  }

  private static func record(
    _ index: Int, _ type: String, _ unit: String, _ value: String, _ metadata: String = ""
  ) -> String {
    """
     <Record type="HKQuantityTypeIdentifier\(type)" unit="\(unit)" value="\(value)" \(common(index))>\(metadata)</Record>
    """
  }

  /// A workout in Health Auto Export's format: with HealthKit's UUID and the activity in the phone's language, but
  /// without a source.
  private static let autoExport = """
    {"data":{"metrics":[],"workouts":[{"id":"\(ids[4])","name":"Rudern","start":"2024-06-15 12:34:00 +0200",\
    "end":"2024-06-15 13:04:00 +0200","duration":1800}]}}
    """

  /// Samples as HealthSync sends them: without bundle identifier, version and correlations, and with "other" for most
  /// workouts.
  private static var synchronised: [Sample] {
    [
      (0, types[0], Payload.quantity(Quantity(62, "count/min"))),
      (4, .workout, .workout(Workout(activityType: .value(3000), duration: 1800))),
    ].compactMap { index, type, payload in
      UUID(uuidString: ids[index]).map { uuid in
        Sample(
          uuid: uuid, type: type, start: Timestamp(seconds: 1_718_447_400 + 60 * Int64(index)),
          end: Timestamp(seconds: 1_718_449_200 + 60 * Int64(index)), source: Source(name: "Watch"), payload: payload)
      }
    }
  }
}
