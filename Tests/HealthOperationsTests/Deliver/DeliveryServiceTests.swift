import Destinations
import Foundation
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import HealthOperations

/// Tests of deliveries by `hpeer run` while other processes interfere.
@Suite("Deliveries while they go on", .timeLimit(.minutes(5)))
struct DeliveryServiceTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  private func output(_ name: String) -> String { home.directory.path("\(name).ndjson") }

  /// Returns the number of lines that a destination was given.
  private func lines(_ name: String) -> Int {
    ((try? String(contentsOfFile: output(name), encoding: .utf8)) ?? "").split(separator: "\n").count
  }

  private func section(_ name: String) -> String {
    """
    [destination.\(name)]
    kind = "command"
    command = ["/bin/sh", "-c", "cat >> '\(output(name))'"]

    """
  }

  private func write(_ names: String...) throws {
    try PrivateSettings.write(names.map(section).joined(), home.home.settingsPath)
  }

  /// Removes a destination, as `hpeer destination remove` does.
  private func remove(_ name: String) async throws {
    let path = home.home.settingsPath
    try home.home.editSettings { try SettingsFile.removing(name, from: $0, path: path) }
    try await RedeliveryRequests.forget("command:\(name)", in: home.store)
  }

  /// A counter of the deliveries that have begun, by destination.
  private final class Begun: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    subscript(_ name: String) -> Int { counts.withLock { $0[name] ?? 0 } }

    func note(_ name: String, _ event: DeliveryEvent) {
      if case .began = event { counts.withLock { $0[name, default: 0] += 1 } }
    }
  }

  private func running(
    clock: any Clock<Duration> = ContinuousClock(), _ body: (Begun) async throws -> Void
  ) async throws {
    let begun = Begun()
    let service = DeliveryService(home.home, home.store, reloads: Reloads(), clock: clock, tell: begun.note)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      defer { group.cancelAll() }
      try await body(begun)
    }
  }

  /// Waits for a condition. The suite's time limit ends the wait if it never holds.
  private func waitFor(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
  }

  @Test("one that is removed while it is delivered to is not begun anew")
  func removed() async throws {
    try await home.fill(3)
    try write("one", "two")
    try await running { begun in
      try await waitFor { lines("one") == 3 && lines("two") == 3 }
      // A change of which it is known when it was noticed: then positions have been seen, too.
      let first = begun["two"]
      try await home.store.deliveries.setPaused(true, "command:another")
      try await waitFor { begun["two"] > first }
      let before = begun["two"]
      try await remove("one")
      try await home.fill(5)
      try await waitFor { lines("two") == 5 && begun["two"] > before }
    }
    // What happened before it was removed may have come; the record once more would be eight.
    #expect(lines("one") <= 5)
    #expect(try await home.store.consumers().map(\.name) == ["command:two"])
  }

  @Test("one whose section is gone has no position made, and one whose settings are being edited keeps its own")
  func withoutSection() async throws {
    try await home.fill(3)
    try write("one")
    let section = try #require(try home.home.settings().destination("one"))
    let operation = DeliverOperation(section, home: home.home, store: home.store)
    try write("two")
    await #expect(throws: DeliveryRefusal.removed("one")) { try await operation.run() }
    #expect(try await home.store.consumers().isEmpty)
    #expect(try await home.store.deliveries.all().isEmpty)

    try PrivateSettings.write("[destination.one", home.home.settingsPath)
    await #expect(throws: SettingsFileError.self) { try await operation.run() }
    #expect(try await home.store.consumers().isEmpty)
    try write("one")
    #expect(try await operation.run().delivered == 3)
    try PrivateSettings.write("[destination.one", home.home.settingsPath)
    try await home.fill(4)
    #expect(try await operation.run().delivered == 1)
    // Its section was cut by hand: what is left of it stays for who wants it back.
    try write("two")
    await #expect(throws: DeliveryRefusal.removed("one")) { try await operation.run() }
    #expect(try await home.store.consumers().map(\.name) == ["command:one"])
  }

  @Test("what is to be delivered again is so at once, all of it or a part, however often it is asked for")
  func resynchronized() async throws {
    try await home.fill(3)
    try write("one")
    try await running { _ in
      try await waitFor { lines("one") == 3 }
      try await RedeliveryRequests.request("command:one", from: nil, in: home.store)
      try await waitFor { lines("one") == 6 }
      try await waitFor { try await home.store.consumers().map(\.name) == ["command:one"] }
      let second = Timestamp(seconds: AppleExportText.start.seconds + 60)
      try await RedeliveryRequests.request("command:one", from: second, in: home.store)
      try await waitFor { lines("one") == 8 }
      try await waitFor { try await home.store.consumers().map(\.name) == ["command:one"] }
    }
    #expect(lines("one") == 8)
  }

  @Test("events of another home zone's days are asked for once, however slow the calendar is")
  func slowCalendar() async throws {
    let isHeld = Mutex(false)
    let listings = Mutex(0)
    let gate = DispatchSemaphore(value: 0)
    @Sendable func open() {
      isHeld.withLock { $0 = false }
      gate.signal()
    }
    let endpoint = try RawEndpoint { exchange in
      guard exchange.request.method == "PROPFIND" else { return exchange.answer(201) }
      if isHeld.withLock(\.self) {
        listings.withLock { $0 += 1 }
        gate.wait()
        // For the next that waits.
        gate.signal()
      }
      return exchange.answer(207, [:], #"<multistatus xmlns="DAV:"/>"#)
    }
    defer { open() }
    try PrivateSettings.write(
      "[destination.calendar]\nkind = \"caldav\"\nurl = \"\(endpoint.url)\"\nnights = true\n",
      home.home.settingsPath)
    try await home.store.settings.setHomeZone("Etc/UTC")
    try await home.fill(3)
    func asked() async throws -> [String] {
      try await home.store.consumers().map(\.name).filter(RedeliveryRequests.isRequest)
    }
    try await running { begun in
      try await waitFor { try await home.store.deliveries.state(of: "caldav:calendar").delivered == 3 }
      let before = begun["calendar"]
      isHeld.withLock { $0 = true }
      try await home.store.settings.setHomeZone("Asia/Tokyo")
      try await waitFor { listings.withLock { $0 >= 1 } }
      let first = try await asked()
      #expect(first.count == 1)
      // For the zone, and for the request, which is noticed like anybody's.
      try await waitFor { begun["calendar"] >= before + 2 }
      // Once more, and how far it has come by then.
      let count = listings.withLock(\.self)
      try await home.store.deliveries.setPaused(true, "command:another")
      try await waitFor { listings.withLock { $0 > count } }
      #expect(try await asked() == first)
      open()
      try await waitFor { try await asked().isEmpty }
    }
    #expect(try await StatisticsBasis.last(of: "caldav:calendar", in: home.store)?.zone == "Asia/Tokyo")
  }

  @Test("one that is paused has nothing until it goes on")
  func paused() async throws {
    try await home.fill(3)
    try write("one", "two")
    try await running { begun in
      try await waitFor { lines("one") == 3 && lines("two") == 3 }
      let before = begun["one"]
      try await home.store.deliveries.setPaused(true, "command:one")
      try await waitFor { begun["one"] > before }
      try await home.fill(5)
      try await waitFor { lines("two") == 5 }
      #expect(lines("one") == 3)
      try await home.store.deliveries.setPaused(false, "command:one")
      try await waitFor { lines("one") == 5 }
    }
  }

  @Test("one that is paused and resumed before that is noticed goes on")
  func pausedInBetween() async throws {
    let (down, asked, fail) = (home.directory.path("down"), home.directory.path("asked"), home.directory.path("fail"))
    try await home.fill(3)
    try PrivateSettings.write(
      """
      [destination.one]
      kind = "command"
      command = ["/bin/sh", "-c", \
      "if test -e '\(down)'; then touch '\(asked)'; until test -e '\(fail)'; do sleep 0.1; done; exit 77; fi; \
      cat >> '\(output("one"))'"]

      """, home.home.settingsPath)
    try Data().write(to: URL(filePath: down))
    // It is never looked what other processes have done: that waits for a tenth of a second first. An attempt is made at
    // once, and there is no look without a hint.
    let blind = ImmediateClock { $0 >= .milliseconds(500) && $0 < .seconds(10) }
    try await running(clock: blind) { begun in
      try await waitFor { FileManager.default.fileExists(atPath: asked) }
      try await home.store.deliveries.setPaused(true, "command:one")
      try Data().write(to: URL(filePath: fail))
      // The next attempt finds it paused, and so does the one after that.
      try await waitFor { begun["one"] >= 3 }
      try FileManager.default.removeItem(atPath: down)
      #expect(lines("one") == 0)
      try await home.store.deliveries.setPaused(false, "command:one")
      try await waitFor { lines("one") == 3 }
    }
  }

  @Test(
    "a destination forgets what it remembers when everything is to be delivered again, once, and in time order a part")
  func forgets() async throws {
    let day = AppleExportText.start.seconds / 86_400
    try await home.fill(3)
    try PrivateSettings.write(
      "[destination.days]\nkind = \"daily-summary\"\nurl = \"http://127.0.0.1:1/\"\nmetrics = { hr = \"heartRate\" }\n",
      home.home.settingsPath)
    let section = try #require(try home.home.settings().destination("days"))
    let operation = DeliverOperation(
      section, home: home.home, store: home.store, policy: RetryPolicy(tolerance: 1))
    let folder = "\(home.home.folder(of: "days"))/state"
    let known = String(repeating: "a", count: 16)
    let memory = "first \(day - 2)\n" + (day - 2...day).map { "\($0) \(known)\n" }.joined()
    var over = ""
    func kept(after start: Timestamp?, isAsked: Bool = true) async throws -> [String] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data((over + memory).utf8).write(to: URL(filePath: "\(folder)/days.txt"))
      if isAsked { try await RedeliveryRequests.request(section.consumer, from: start, in: home.store) }
      // Nothing listens there.
      await #expect(throws: CourierError.self) { try await operation.run() }
      let lines = try String(contentsOfFile: "\(folder)/days.txt", encoding: .utf8).split(separator: "\n")
      over = lines.first { $0.hasPrefix("over ") }.map { $0 + "\n" } ?? ""
      return lines.filter { $0.hasSuffix(known) }.map { String($0.prefix { $0 != " " }) }
    }
    #expect(try await kept(after: nil) == [])
    #expect(try await kept(after: nil, isAsked: false).count == 3)
    #expect(try await home.store.deliveries.all().map(\.consumer) == [section.consumer])
    #expect(try await kept(after: Timestamp(seconds: (day - 1) * 86_400 + 43_200)) == ["\(day - 2)"])
    let names = try await home.store.consumers().map(\.name)
    #expect(names.count == 2 && names[0] == "daily-summary:days" && names[1].hasPrefix("daily-summary:days:again:"))
    // What fails of a part is a failure of the destination.
    #expect(try await home.store.deliveries.all().map(\.consumer) == [section.consumer])
  }
}
