import Foundation
import HealthFormats
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests with devices that are renamed, inherit names or swap them between exports: only new samples are added, and
/// nothing is lost.
@Suite struct HandedDownNamesTests {
  private let fixture: StoreFixture
  private var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  /// Imports an export of the devices, as the command does. Returns the number of added samples.
  private func bring(_ devices: [Device]) async throws -> Int {
    let path = fixture.directory.path + "/\(UUID().uuidString).xml"
    try Data(Device.export(devices).utf8).write(to: URL(fileURLWithPath: path))
    let export = try AppleHealthExport(path: path)
    var survey = try export.survey()
    survey.expectTwins(try await store.imports.twinKeys())
    let names = try await store.imports.identityNames(for: survey.sources)
    let writer = try ImportWriter(store, .init(name: "export.xml"))
    _ = try export.read(survey, identityNames: names, batchSize: 50) { batch in
      try writer.write(batch.changes)
      if !batch.groups.isEmpty { try writer.write(twins: batch.groups) }
    }
    return writer.summary.added
  }

  private func records() async throws -> [Device.Record] {
    try await store.samples.page(of: Device.type, limit: 100_000).compactMap { sample in
      guard case .quantity(let quantity) = sample.payload else { return nil }
      return Device.Record(second: Int(sample.start.seconds - Device.start), value: Int(quantity.value))
    }.sorted()
  }

  @Test func theExampleOfAnna() async throws {
    var old = Device(name: "Anna’s iPhone", records: (0..<1000).map { .init(second: $0 * 7, value: $0) })
    #expect(try await bring([old]) == 1000)
    old.name = "Anna’s old iPhone"
    let new = Device(name: "Anna’s iPhone", records: (0..<50).map { .init(second: 10_000 + $0 * 7, value: $0) })
    #expect(try await bring([old, new]) == 50)
    #expect(try await bring([new, old]) == 0)
  }

  @Test(arguments: 1...40)
  func onlyWhatIsNewIsAdded(seed: Int) async throws {
    var world = World(seed: UInt64(seed))
    var held = 0
    for generation in 0..<5 {
      world.live()
      let added = try await bring(world.devices)
      #expect(added == world.count - held, "seed \(seed), export \(generation)")
      held = world.count
    }
    #expect(try await records() == world.records)
  }

  @Test("in any order, and again", arguments: 100...120)
  func inAnyOrder(seed: Int) async throws {
    var world = World(seed: UInt64(seed))
    var exports: [[Device]] = []
    for _ in 0..<4 {
      world.live()
      exports.append(world.devices)
    }
    var newest = 0
    for index in (Array(exports.indices) + Array(exports.indices)).shuffled(using: &world.generator) {
      _ = try await bring(exports[index])
      newest = max(newest, exports[index].reduce(0) { $0 + $1.records.count })
      #expect(try await records().count == newest, "seed \(seed), export \(index)")
    }
    #expect(try await records() == world.records)
  }

  @Test("names as if they were swapped, over other samples", arguments: [200, 201, 202])
  func onlyTheNamesAreSwapped(seed: Int) async throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let names = ["A", "B", "C"]
    let before = names.enumerated().map { index, name in
      Device(name: name, records: [Device.Record].random(40, from: index * 10_000, using: &generator))
    }
    _ = try await bring(before)
    let known = try await records()
    // At the moments of the one before, but with numbers of their own, and beside them new ones.
    let after = names.indices.map { index in
      let others = before[(index + 1) % names.count].records.map {
        Device.Record(second: $0.second, value: $0.value + 9)
      }
      return Device(name: names[index], records: others + [Device.Record].random(10, from: 90_000, using: &generator))
    }
    #expect(try await bring(after) == 150)
    #expect(try await records() == (known + after.flatMap(\.records)).sorted())
  }
}

/// A device and everything that it has recorded.
private struct Device {
  struct Record: Hashable, Comparable {
    var second: Int
    var value: Int

    static func < (a: Record, b: Record) -> Bool { (a.second, a.value) < (b.second, b.value) }
  }

  static let type = SampleType("HKQuantityTypeIdentifierStepCount")
  static let start: Int64 = 1_704_067_200

  var name: String
  var records: [Record]

  static func export(_ devices: [Device]) -> String {
    let elements = devices.flatMap { device in
      device.records.map { record in
        let date = Timestamp(seconds: start + Int64(record.second)).iso8601.replacing("T", with: " ").dropLast()
        return
          #"<Record type="\#(type.rawValue)" sourceName="\#(device.name)" unit="count" creationDate="\#(date) +0000""#
          + #" startDate="\#(date) +0000" endDate="\#(date) +0000" value="\#(record.value)"/>"#
      }
    }
    return "<HealthData locale=\"en_DE\">\n" + elements.joined(separator: "\n") + "\n</HealthData>\n"
  }
}

extension [Device.Record] {
  /// Returns random records, each at its own time.
  fileprivate static func random(_ count: Int, from second: Int, using generator: inout SeededGenerator) -> Self {
    var second = second
    return (0..<count).map { _ in
      second += Int.random(in: 1...100, using: &generator)
      return Device.Record(second: second, value: Int.random(in: 1...9999, using: &generator))
    }
  }
}

/// A set of devices over the years.
private struct World {
  var generator: SeededGenerator
  private(set) var devices: [Device] = []
  private var names = ["Anna’s iPhone", "iPhone", "Watch", "Anna’s old iPhone", "A", "B", "C"]
  /// A time after everything recorded so far.
  private var now = 0

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  var count: Int { devices.reduce(0) { $0 + $1.records.count } }
  var records: [Device.Record] { devices.flatMap(\.records).sorted() }

  /// Simulates the time until the next export: devices are bought, some are renamed, and all record.
  mutating func live() {
    let bought = devices.isEmpty ? 2 : Int.random(in: 0...1, using: &generator)
    for _ in 0..<bought where devices.count < names.count { devices.append(Device(name: "", records: [])) }
    rename()
    for index in devices.indices {
      let isNew = devices[index].records.isEmpty
      let count = generator.oneIn(4) ? 300 : Int.random(in: isNew ? 10...60 : 0...60, using: &generator)
      let recorded = [Device.Record].random(count, from: now + index, using: &generator)
      devices[index].records += recorded
    }
    share()
    now = (devices.flatMap(\.records).map(\.second).max() ?? 0) + 1
  }

  private mutating func rename() {
    if generator.oneIn(2) {
      // All of them anew.
      names.shuffle(using: &generator)
      for index in devices.indices { devices[index].name = names[index] }
      return
    }
    // The newest take names of others, which get the next.
    for index in devices.indices where devices[index].name.isEmpty {
      let name = generator.pick(names)
      if let other = devices.firstIndex(where: { $0.name == name }) {
        let free = names.filter { name in !devices.contains { $0.name == name } }
        devices[other].name = generator.pick(free)
      }
      devices[index].name = name
    }
  }

  /// Makes devices sometimes record at the same time.
  private mutating func share() {
    for index in devices.indices.dropFirst() {
      let seconds = Set(devices[index].records.map(\.second))
      let others = devices[index - 1].records.filter { $0.second > now && !seconds.contains($0.second) }
      for record in others.prefix(3) {
        devices[index].records.append(Device.Record(second: record.second, value: record.value + 10_000))
      }
    }
  }
}
