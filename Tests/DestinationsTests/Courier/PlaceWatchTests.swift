import Foundation
import HealthAnalysis
import HealthModel
import HealthOperations
import HealthStore
import OperatingSystem
import TestSupport
import Testing

@testable import Destinations

/// Tests of a destination that has lost its data.
@Suite("A place that forgets", .timeLimit(.minutes(5)))
struct PlaceWatchTests {
  private let directory: TemporaryDirectory
  private let home: Home
  private let store: HealthStore

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    home = Home(path: directory.path("home"), environment: [:])
    store = try home.createStore()
  }

  private func section(_ text: String) throws -> DestinationSection {
    try text.write(toFile: home.settingsPath, atomically: true, encoding: .utf8)
    return try #require(try home.settings().destination("one"))
  }

  private func sync(_ section: DestinationSection) async throws -> CourierReport {
    try await DeliverOperation(section, home: home, store: store).run()
  }

  private func files(below path: String) -> Set<String> {
    Set(
      (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []).filter {
        $0.hasSuffix("data.jsonl")
      })
  }

  private func folder() throws -> (path: String, section: DestinationSection) {
    let path = directory.path("place")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    return (path, try section("[destination.one]\nkind = \"folder\"\npath = \"\(path)\"\n"))
  }

  @Test("a folder that is an older copy has everything again with the next delivery, and it is told why")
  func olderFolder() async throws {
    let (path, section) = try folder()
    try await store.apply(ChangeBatch(additions: DestinationHarnesses.steps(100)))
    #expect(try await sync(section).losses == [])
    let old = directory.path("copy")
    try FileManager.default.copyItem(atPath: path, toPath: old)
    try await store.apply(ChangeBatch(additions: Array(DestinationHarnesses.steps(400).suffix(300))))
    #expect(try await sync(section).delivered == 300)
    let whole = files(below: path)
    // In place, as a file system's snapshot comes back.
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
      try FileManager.default.copyItem(atPath: "\(old)/\(name)", toPath: "\(path)/\(name)")
    }
    let report = try await sync(section)
    #expect(report.losses.count == 1 && report.delivered == 400)
    #expect(files(below: path) == whole)
    let loss = try #require(try await PlaceLoss.last(of: section.consumer, in: store))
    #expect(loss.isWhole && loss.reason == report.losses.first)
    #expect(try await sync(section) == CourierReport())
    let reasons = try await store.audit.log().records.compactMap { $0.detail["reason"] }
    #expect(reasons.contains { $0.contains("is not of the last delivery") })
  }

  @Test("news does not hide that a folder was emptied before it came")
  func emptiedBeforeNews() async throws {
    let (path, section) = try folder()
    try await store.apply(ChangeBatch(additions: DestinationHarnesses.steps(50)))
    _ = try await sync(section)
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(path)/v1") {
      try FileManager.default.removeItem(atPath: "\(path)/v1/\(name)")
    }
    // As while hpeer runs, and has looked a minute before.
    try await store.apply(ChangeBatch(additions: Array(DestinationHarnesses.steps(51).suffix(1))))
    let place = try FolderDestination(
      section.settings,
      in: DestinationEnvironment(
        record: RecordReader(store, filter: .everything, zone: try ZoneRules(named: "UTC")), secrets: SecretStore(),
        stateFolder: "\(home.folder(of: "one"))/state"))
    _ = try await Courier(to: place, named: section.consumer, from: store).run()
    #expect(try await place.examine() != .intact)
    #expect(try await sync(section).delivered == 51)
    #expect(try await place.examine() == .intact)
  }

  @Test("a folder that keeps nothing is not given everything again and again")
  func keepsNothing() async throws {
    let (path, section) = try folder()
    try await store.apply(ChangeBatch(additions: DestinationHarnesses.steps(20)))
    _ = try await sync(section)
    func empty() throws {
      for name in try FileManager.default.contentsOfDirectory(atPath: "\(path)/v1") {
        try FileManager.default.removeItem(atPath: "\(path)/v1/\(name)")
      }
    }
    try empty()
    #expect(try await sync(section).delivered == 20)
    try empty()
    #expect(try await sync(section) == CourierReport())
  }

  @Test(
    "a broker that was started anew has the values again while hpeer runs, and nobody brings news",
    .enabled(if: MosquittoBroker.isInstalled, Comment(rawValue: MosquittoBroker.missing)))
  func brokerRestarts() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let section = try section(
      "[destination.one]\nkind = \"mqtt\"\nurl = \"mqtt://127.0.0.1:\(broker.port)\"\nperson = \"ada\"\n")
    try await store.apply(ChangeBatch(additions: DestinationHarnesses.steps(3)))
    let topic = "hpeer/ada/stepCount"
    func isThere() async throws -> Bool {
      try await onThread { _ in try broker.retained(below: "hpeer/ada/#")[topic] != nil }
    }
    func awaitThere() async throws {
      while try await !isThere() { try await Task.sleep(for: .milliseconds(200)) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [self] in
        // As `hpeer run` does, which begins again after a failure.
        while !Task.isCancelled {
          _ = try? await DeliverOperation(section, home: home, store: store).run(follows: true)
        }
      }
      try await awaitThere()
      broker.kill()
      try broker.start()
      try await awaitThere()
      while try await PlaceLoss.last(of: section.consumer, in: store) == nil {
        try await Task.sleep(for: .milliseconds(200))
      }
      group.cancelAll()
    }
    #expect(try await PlaceLoss.last(of: section.consumer, in: store)?.reason.contains("retained") == true)
  }

  @Test(
    "totals of a day that has ended are stale, and are brought up to date without news",
    .enabled(if: MosquittoBroker.isInstalled, Comment(rawValue: MosquittoBroker.missing)))
  func dayEnds() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let section = try section(
      "[destination.one]\nkind = \"mqtt\"\nurl = \"mqtt://127.0.0.1:\(broker.port)\"\nperson = \"ada\"\n")
    try await store.apply(ChangeBatch(additions: DestinationHarnesses.steps(3)))
    _ = try await sync(section)
    let state = "\(home.folder(of: "one"))/state"
    var memory = try #require(await CurrentMemory.read(in: state))
    // As yesterday left it, whose total is still there.
    memory.day -= 1
    try await memory.write(in: state)
    let client = try await MQTTClient(MQTTConfiguration(host: "127.0.0.1", port: broker.port, clientID: "yesterday"))
    try await client.publish([MQTTMessage("hpeer/ada/stepCount", Array(#"{"value":4711}"#.utf8))])
    client.disconnect()
    let report = try await sync(section)
    #expect(report.losses == [] && report.delivered == 0)
    #expect(await CurrentMemory.read(in: state)?.day ?? 0 > memory.day)
    let value = try await onThread { _ in try broker.retained(below: "hpeer/ada/#")["hpeer/ada/stepCount"] }
    #expect(value?.contains(#""value":0"#) == true)
  }

  @Test(
    "values of another record under the same name are noticed before anything is written over",
    .enabled(if: MosquittoBroker.isInstalled, Comment(rawValue: MosquittoBroker.missing)))
  func otherRecord() async throws {
    let broker = try MosquittoBroker()
    try broker.start()
    let text = "[destination.one]\nkind = \"mqtt\"\nurl = \"mqtt://127.0.0.1:\(broker.port)\"\n"
    let section = try section(text)
    try await store.apply(ChangeBatch(additions: DestinationHarnesses.steps(3)))
    _ = try await sync(section)
    try await DeliverOperation(section, home: home, store: store).check()
    let other = Home(path: directory.path("other"), environment: [:])
    let otherStore = try other.createStore()
    let error = await #expect(throws: DeliveryError.self) {
      try await DeliverOperation(section, home: other, store: otherStore).check()
    }
    #expect(error?.description.contains("another health record") == true)
  }
}
