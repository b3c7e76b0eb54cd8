import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// The path of a table of HealthPush's types that exists only on some machines.
private let healthPushTypesPath = "/work/shared/data/healthpush_types.tsv"

@Suite("Files by type and day")
struct DayFilesTests {
  private let store = MemoryObjectStore()
  private let berlin: ZoneRules

  init() throws { berlin = try ZoneRules(named: "Europe/Berlin") }

  private func batch(_ samples: [Sample], deleting: [Tombstone] = []) throws -> DeliveryBatch {
    var coder = ChangeCoder()
    for tombstone in deleting { coder.add(tombstone) }
    for sample in samples { try coder.add(sample) }
    return DeliveryBatch(changes: coder.changes, startsOver: false)
  }

  private func files(_ options: DayFiles.Options = DayFiles.Options(), in store: MemoryObjectStore? = nil) -> DayFiles {
    DayFiles(in: store ?? self.store, options, zone: berlin)
  }

  private func sample(
    _ type: String, _ start: String, lasting seconds: Int64 = 60, _ payload: Payload, uuid: UUID = UUID()
  ) throws -> Sample {
    let start = try #require(Timestamp(iso8601: start))
    return Sample(
      uuid: uuid, type: SampleType(type), start: start, end: Timestamp(seconds: start.seconds + seconds),
      source: Source(name: "Apple Watch", bundleIdentifier: "com.apple.health"), payload: payload)
  }

  private func heartRate(_ start: String, _ value: Double = 72, uuid: UUID = UUID()) throws -> Sample {
    try sample(
      "HKQuantityTypeIdentifierHeartRate", start, .quantity(Quantity(value, "count/min")), uuid: uuid)
  }

  private func example() throws -> Sample {
    try heartRate("2026-04-09T12:00:00Z", uuid: try #require(UUID(uuidString: "A1B2C3D4-E5F6-7890-ABCD-EF1234567890")))
  }

  private static let name = "v1/heart_rate/2026/04/09/data.jsonl"
  private static let line =
    #"{"aggregation":"raw","categoryValue":null,"deleted":false,"endDate":"2026-04-09T12:01:00.000Z","metric":"#
    + #"{"hkIdentifier":"HKQuantityTypeIdentifierHeartRate","key":"heart_rate","kind":"quantity"},"schemaVersion":"1.0","#
    + #""source":{"bundleId":"com.apple.health","name":"Apple Watch"},"startDate":"2026-04-09T12:00:00.000Z","#
    + #""tzOffset":"+02:00","unit":"count\/min","uuid":"A1B2C3D4-E5F6-7890-ABCD-EF1234567890","value":72}"#

  private func records(_ name: String, in store: MemoryObjectStore? = nil) throws -> [[String: JSONValue]] {
    let text = try #require((store ?? self.store).text(name))
    return try text.split(separator: "\n").map {
      try JSONDecoder().decode([String: JSONValue].self, from: Data($0.utf8))
    }
  }

  @Test("what belongs to a file that is refused for good is named, and all other files are written")
  func refused() async throws {
    let store = MemoryObjectStore { _, name in
      if name.contains("/04/10/data") { throw DeliveryError.refused(reason: "too large") }
    }
    let samples = try ["2026-04-09T12:00:00Z", "2026-04-10T12:00:00Z", "2026-04-11T12:00:00Z"].map { try heartRate($0) }
    let gone = Tombstone(sample: try heartRate("2026-04-10T13:00:00Z").reference, deleted: .now)
    let refused = try await files(in: store).deliver(batch(samples, deleting: [gone]))
    #expect(Set(refused.map(\.sample)) == [samples[1].reference, gone.sample])
    #expect(refused.allSatisfy { $0.reason == "too large" })
    #expect(try records("v1/heart_rate/2026/04/11/data.jsonl", in: store).count == 1)
    #expect(try records(Self.name, in: store).count == 1)
  }

  @Test("a batch is taken when its files are kept for good, also those that were there already")
  func kept() async throws {
    let batch = try batch(["2026-04-09T12:00:00Z", "2026-04-10T12:00:00Z"].map { try heartRate($0) })
    let names = [Self.name, "v1/heart_rate/2026/04/10/data.jsonl"]
    try await files().deliver(batch)
    #expect(store.synchronized == names)
    store.forgetWrites()
    try await files().deliver(batch)
    #expect(store.writes.isEmpty)
    #expect(store.synchronized == names + names)
  }

  // MARK: Bytes

  @Test("a line is HealthPush's, byte for byte, and the manifest counts it")
  func line() async throws {
    try await files(DayFiles.Options(hasWholeSamples: false)).deliver(batch([example()]))
    #expect(store.text(Self.name) == Self.line)
    let manifest = try #require(store.text("v1/heart_rate/2026/04/09/_manifest.json"))
    #expect(
      manifest.hasPrefix(
        "{\n  \"schemaVersion\": \"1.0\",\n  \"metric\": \"heart_rate\",\n  \"date\": \"2026-04-09\",\n  \"recordCount\": 1,\n"
      ))
  }

  @Test("an array is indented as HealthPush indents it")
  func array() async throws {
    try await files(DayFiles.Options(prefix: "ada/", format: .json, hasWholeSamples: false)).deliver(batch([example()]))
    let text = try #require(store.text("ada/v1/heart_rate/2026/04/09/data.json"))
    #expect(text.hasPrefix("[\n  {\n    \"aggregation\" : \"raw\",\n    \"categoryValue\" : null,\n"))
    #expect(text.contains("    \"metric\" : {\n      \"hkIdentifier\" : \"HKQuantityTypeIdentifierHeartRate\",\n"))
    #expect(text.hasSuffix("    \"value\" : 72\n  }\n]"))
  }

  @Test("a table has HealthPush's columns; what is deleted is not in it")
  func table() async throws {
    var named = try example()
    named.source = Source(name: "a, \"b\"\nc")
    let files = files(DayFiles.Options(format: .csv))
    try await files.deliver(batch([named, try heartRate("2026-04-09T11:00:00Z")]))
    let name = "v1/heart_rate/2026/04/09/data.csv"
    let row =
      "A1B2C3D4-E5F6-7890-ABCD-EF1234567890,2026-04-09T12:00:00.000Z,2026-04-09T12:01:00.000Z,+02:00,72.0,count/min,raw,"
      + "\"a, \"\"b\"\"\nc\",,1.0"
    let text = try #require(store.text(name))
    #expect(text.hasPrefix(DayFileFormat.header + "\n"))
    #expect(text.hasSuffix("\n" + row))
    try await files.deliver(batch([], deleting: [Tombstone(sample: named.reference, deleted: .now)]))
    #expect(try #require(store.text(name)).contains("A1B2C3D4") == false)
    #expect(try #require(store.text(name)).split(separator: "\n").count == 2)
  }

  @Test("numbers are in the unit that is said beside them, or in HealthPush's")
  func units() async throws {
    let walk = try sample(
      "HKQuantityTypeIdentifierDistanceWalkingRunning", "2026-04-09T12:00:00Z", .quantity(Quantity(1, "mi")))
    let exercise = try sample(
      "HKQuantityTypeIdentifierAppleExerciseTime", "2026-04-09T12:00:00Z", .quantity(Quantity(2, "min")))
    let height = try sample("HKQuantityTypeIdentifierHeight", "2026-04-09T12:00:00Z", .quantity(Quantity(180, "cm")))
    let odd = try sample("HKQuantityTypeIdentifierHeight", "2026-04-09T13:00:00Z", .quantity(Quantity(4, "cubits")))
    try await files().deliver(batch([walk, exercise, height, odd]))
    func value(_ key: String, _ index: Int = 0, in store: MemoryObjectStore? = nil) throws -> [JSONValue?] {
      let record = try records("v1/\(key)/2026/04/09/data.jsonl", in: store)[index]
      return [record["value"], record["unit"]]
    }
    #expect(try value("walking_running_distance") == [.number(1609.344), .string("m")])
    #expect(try value("exercise_minutes") == [.integer(120), .string("s")])
    #expect(try value("height") == [.number(1.8), .string("m")])
    #expect(try value("height", 1) == [.integer(4), .string("cubits")])
    let other = MemoryObjectStore()
    try await files(DayFiles.Options(isCompatible: true), in: other).deliver(batch([walk, exercise, height]))
    #expect(try value("walking_running_distance", in: other) == [.number(1.609344), .string("m")])
    #expect(try value("exercise_minutes", in: other) == [.integer(2), .string("s")])
    #expect(try value("height", in: other) == [.integer(180), .string("m")])
  }

  @Test("a night is in seconds with its stage, and the whole sample stands beside it")
  func sleep() async throws {
    var night = try sample(
      "HKCategoryTypeIdentifierSleepAnalysis", "2026-04-08T22:30:00Z", lasting: 1_800,
      .category(CategoryValue(value: 4)))
    night.metadata = ["HKTimeZone": .string("Europe/Berlin")]
    try await files().deliver(batch([night]))
    // At half past midnight in Berlin.
    let record = try #require(try records("v1/sleep/2026/04/09/data.jsonl").first)
    #expect(record["value"] == .integer(1_800))
    #expect(record["categoryValue"] == .integer(4))
    guard case .object(let feed)? = record["hpeer"] else { throw CocoaError(.coderReadCorrupt) }
    #expect(try JSONDecoder().decode(Sample.self, from: JSONEncoder().encode(feed["added"])) == night)
  }

  @Test("the offset is that of home at the time of the sample")
  func offsets() async throws {
    try await files().deliver(
      batch([try heartRate("2026-01-09T23:30:00Z"), try heartRate("2026-07-09T12:00:00Z")]))
    #expect(try records("v1/heart_rate/2026/01/10/data.jsonl")[0]["tzOffset"] == .string("+01:00"))
    #expect(try records("v1/heart_rate/2026/07/09/data.jsonl")[0]["tzOffset"] == .string("+02:00"))
  }

  // MARK: Merging

  @Test("what comes again is not written again, and a lost manifest is made up for")
  func repetition() async throws {
    let batch = try batch([example(), try heartRate("2026-04-09T10:00:00Z")])
    try await files().deliver(batch)
    #expect(store.writes.map(\.condition) == [.absent, .always])
    store.forgetWrites()
    try await files().deliver(batch)
    #expect(store.writes.isEmpty)
    store.delete("v1/heart_rate/2026/04/09/_manifest.json")
    try await files().deliver(batch)
    #expect(store.writes.map(\.name) == ["v1/heart_rate/2026/04/09/_manifest.json"])
  }

  @Test("a deleted sample stays as deleted, without its value")
  func deletion() async throws {
    let sample = try example()
    try await files().deliver(batch([sample]))
    let tombstone = Tombstone(
      sample: sample.reference, deleted: try #require(Timestamp(iso8601: "2026-05-01T00:00:00.25Z")), end: sample.end,
      source: "Apple Watch")
    try await files().deliver(batch([], deleting: [tombstone]))
    let record = try #require(try records(Self.name).first)
    #expect(record["deleted"] == .bool(true))
    #expect(record["deletedAt"] == .string("2026-05-01T00:00:00.250Z"))
    #expect(record["value"] == .integer(0))
    #expect(record["endDate"] == .string("2026-04-09T12:01:00.000Z"))
    #expect(try !#require(store.text(Self.name)).contains("72"))
    // What comes back, because it is shown again, is there again.
    try await files().deliver(batch([sample]))
    #expect(try records(Self.name).first?["deleted"] == .bool(false))
  }

  @Test("HealthPush's own lines stay as they are")
  func foreignLines() async throws {
    let foreign =
      #"{"uuid":"7E244E9A-6F83-5EE6-81E1-DE1AB2EECA0A","startDate":"2026-04-09T09:00:00.000Z","later":[1, 2],"value":1}"#
    store.set(Self.name, foreign + "\r\n\n")
    try await files(DayFiles.Options(hasWholeSamples: false)).deliver(batch([example()]))
    #expect(store.text(Self.name) == foreign + "\n" + Self.line)
    #expect(store.objects.count == 2)
  }

  @Test("of two writers neither loses anything")
  func conflict() async throws {
    let mine = try example()
    let theirs = try (0..<3).map { try heartRate("2026-04-09T09:00:0\($0)Z") }
    let rest = Mutex(theirs)
    let store = MemoryObjectStore(beforePut: { [berlin] store, name in
      guard name == Self.name, let sample = rest.withLock({ $0.popLast() }) else { return }
      // As another writer, who was faster.
      var coder = ChangeCoder()
      try? coder.add(sample)
      let options = DayFiles.Options()
      guard let records = try? RecordCoder(coder.changes, options, zone: berlin) else { return }
      var writer = records.writer()
      try? writer.write(coder.changes.samples[0])
      var file = DayFile.reading(store.objects[name] ?? [], as: .ndjson).file
      _ = file.put([DayFile.Record(uuid: sample.uuid, start: sample.start, bytes: writer.bytes[...])])
      store.set(name, String(decoding: file.bytes(), as: UTF8.self))
    })
    try await files(in: store).deliver(batch([mine]))
    let uuids = try records(Self.name, in: store).map { $0["uuid"] }
    #expect(Set(uuids) == Set((theirs + [mine]).map { .string($0.uuid.uuidString) }))
  }

  @Test("the next batch keeps what another has written into the file that the last one ended with, and what it deleted")
  func continued() async throws {
    let files = files()
    let samples = try (0..<4).map { try heartRate("2026-04-09T09:00:0\($0)Z") }
    try await files.deliver(batch([samples[0]]))
    try await files.deliver(batch([samples[1]]))
    let other = self.files()
    try await other.deliver(batch([samples[2]], deleting: [Tombstone(sample: samples[1].reference, deleted: .now)]))
    try await files.deliver(batch([samples[3]]))
    #expect(try records(Self.name).map { $0["uuid"] } == samples.map { .string($0.uuid.uuidString) })
    #expect(try records(Self.name).map { $0["deleted"] } == [.bool(false), .bool(true), .bool(false), .bool(false)])
  }

  @Test("large files come after all others, one after the other, and lose nothing")
  func large() async throws {
    let store = MemoryObjectStore(width: 1)
    let names = ["v1/heart_rate/2026/04/09/data.jsonl", "v1/heart_rate/2026/04/10/data.jsonl"]
    let padding = String(repeating: "x", count: 17 << 20)
    for name in names {
      let uuid = UUID().uuidString
      store.set(name, #"{"uuid":"\#(uuid)","startDate":"2026-04-09T09:00:00.000Z","note":"\#(padding)"}"#)
    }
    let days = ["2026-04-09", "2026-04-10", "2026-04-11", "2026-04-12"]
    try await files(in: store).deliver(batch(days.map { try heartRate("\($0)T12:00:00Z") }))
    let data = store.writes.map(\.name).filter { $0.hasSuffix("data.jsonl") }
    #expect(data == ["v1/heart_rate/2026/04/11/data.jsonl", "v1/heart_rate/2026/04/12/data.jsonl"] + names)
    #expect(store.synchronized == data.sorted())
    for name in names { #expect(try records(name, in: store).count == 2) }
  }

  @Test("a file that others write all the time is tried later")
  func endlessConflict() async throws {
    let store = MemoryObjectStore(beforePut: { store, name in store.set(name, "\(UUID())") })
    await #expect(throws: DeliveryError.self) { try await files(in: store).deliver(batch([try example()])) }
  }

  // MARK: What cannot be read

  @Test(
    "what cannot be read is kept aside whole, and what can be read goes on",
    arguments: [DayFileFormat.ndjson, .json, .csv])
  func unreadable(format: DayFileFormat) async throws {
    let options = DayFiles.Options(format: format)
    let name = "v1/heart_rate/2026/04/09/data.\(format.fileExtension)"
    let old = try [heartRate("2026-04-09T09:00:00Z"), heartRate("2026-04-09T10:00:00Z")]
    try await files(options).deliver(batch(old))
    let torn = String(try #require(store.text(name)).dropLast(format == .csv ? 40 : 10))
    store.set(name, torn)
    try await files(options).deliver(batch([example()]))
    let aside = store.objects.filter { $0.key.hasSuffix(".bad") }
    #expect(aside.map(\.value) == [Array(torn.utf8)])
    #expect(try #require(aside.keys.first).hasPrefix(name + "."))
    let (file, isWhole) = DayFile.reading(try #require(store.objects[name]), as: format)
    #expect(isWhole)
    #expect(file.count == 2)
  }

  @Test("whatever a file holds, all of it is there afterwards")
  func hostileFiles() async throws {
    var random = SeededGenerator(seed: 12)
    let sample = try example()
    for format in DayFileFormat.allCases {
      let options = DayFiles.Options(format: format)
      let name = "v1/heart_rate/2026/04/09/data.\(format.fileExtension)"
      let origin = MemoryObjectStore()
      try await files(options, in: origin).deliver(
        batch(try (0..<4).map { try heartRate("2026-04-09T09:00:0\($0)Z") }))
      let whole = try #require(origin.objects[name])
      for _ in 0..<60 {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let index = Int.random(in: 0..<bytes.count, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
          case 1: bytes.remove(at: index)
          default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
          }
        }
        let store = MemoryObjectStore()
        try store.put(bytes, at: name, contentType: "", if: .always)
        let before = DayFile.reading(bytes, as: format)
        try await files(options, in: store).deliver(batch([sample]))
        let after = DayFile.reading(try #require(store.objects[name]), as: format)
        #expect(after.isWhole)
        #expect(after.file.count == before.file.count + 1)
        let isAside = store.objects.contains { $0.key.hasSuffix(".bad") && $0.value == bytes }
        #expect(isAside != before.isWhole)
      }
    }
  }

  @Test("samples of all kinds and times make files that are whole", arguments: DayFileFormat.allCases)
  func allKinds(format: DayFileFormat) async throws {
    var maker = SampleMaker(seed: 3)
    let samples = maker.samples(300) + SampleMaker.edgeCases
    let options = DayFiles.Options(format: format)
    try await files(options).deliver(batch(samples))
    var count = 0
    for (name, bytes) in store.objects where !name.hasSuffix("_manifest.json") {
      let (file, isWhole) = DayFile.reading(bytes, as: format)
      #expect(isWhole, "\(name)")
      #expect(name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
      count += file.count
    }
    #expect(count == Set(samples.map(\.uuid)).count)
  }

  // MARK: Names

  @Test("each type has a key of its own")
  func keys() throws {
    let types = SampleTypeCatalogue.healthKit.entries.map(\.type)
    let keys = types.map { HealthPushMetric($0, payload: nil).key }
    #expect(Set(keys).count == types.count)
    #expect(HealthPushMetric(SampleType("HKQuantityTypeIdentifierVO2Max"), payload: nil).key == "vo2_max")
    #expect(HealthPushMetric(.workout, payload: nil).key == "workout")
    #expect(HealthPushMetric(SampleType("hae.step count/ü"), payload: nil).key == "type.hae.step~20count~2F~C3~BC")
    #expect(HealthPushMetric(SampleType(".."), payload: nil).key == "type...")
    #expect(HealthPushMetric(SampleType(String(repeating: "é", count: 5_000)), payload: nil).key.utf8.count < 130)
  }

  @Test(
    "the 25 types are those of HealthPush",
    .enabled(
      if: FileManager.default.fileExists(atPath: healthPushTypesPath), "the table of HealthPush's types is not here"))
  func healthPushTypes() throws {
    let rows = try String(contentsOfFile: healthPushTypesPath, encoding: .utf8).split(separator: "\n").dropFirst().map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    #expect(rows.count == 25)
    #expect(HealthPushMetric.identifiers.count == 25)
    for row in rows {
      let metric = HealthPushMetric(SampleType(row[2]), payload: nil)
      #expect([metric.key, metric.kind, metric.unit] == [row[1], row[4], row[6]])
      let factor = try #require(Double(row[8].prefix { $0.isNumber || $0 == "." }))
      #expect(abs(metric.repaired(1, metric.unit ?? "") - factor) < 1e-9, "\(row[1])")
    }
  }

  // MARK: Trying out

  @Test("a place that overwrites is found out, and the probe is gone")
  func probe() async throws {
    try await files().check(needsConditions: true)
    #expect(store.objects.isEmpty)
    let careless = MemoryObjectStore(ignoresConditions: true)
    await #expect(throws: DeliveryError.self) { try await files(in: careless).check(needsConditions: true) }
    try await files(in: careless).check(needsConditions: false)
    #expect(careless.objects.isEmpty)
  }

  @Test("a probe that a proxy sends twice ends well, and one whose answers are lost leaves nothing behind")
  func probeThroughProxy() async throws {
    let (plain, twice) = (CarelessWire(to: store), CarelessWire(to: store, sendsTwice: true))
    for wire in [plain, twice] {
      try await ObjectStoreProbe.run(wire, prefix: "", needsConditions: true)
      #expect(store.objects.isEmpty)
    }
    #expect(plain.requests > 5)
    for lost in 0..<plain.requests {
      let wire = CarelessWire(to: store, losing: lost)
      await #expect(throws: DeliveryError.temporary(reason: "lost")) {
        try await ObjectStoreProbe.run(wire, prefix: "", needsConditions: true)
      }
      #expect(store.objects.isEmpty, "request \(lost)")
    }
  }

  @Test(
    "a prefix is a path",
    arguments: [("", ""), ("/health/ada/", "health/ada/"), ("a//b", nil), ("a/../b", nil), ("ü", nil)])
  func prefixes(text: String, prefix: String?) throws {
    let description = DestinationDescription(
      DestinationKind("x"), "X.", repetition: .idempotent, fields: DayFiles.fields)
    let settings = try DestinationSettings(name: "x", ["prefix": .text(text)], of: description)
    #expect((try? DayFiles.Options(settings))?.prefix == prefix)
  }
}
