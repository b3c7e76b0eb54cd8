import Foundation
import HealthModel
import HealthStore
import Logging
import OperatingSystem
import Synchronization
import TestSupport
import Testing

@testable import HealthOperations

@Suite struct StoreMaintenanceTests {
  @Test("five years: once a day, every table in its turn, and nothing is left open", .timeLimit(.minutes(5)))
  func years() async throws {
    let home = try TestHome()
    try await home.fill(20)
    let before = try await home.store.digests.current().record
    let clock = ManualClock()
    let (days, daily) = AsyncStream.makeStream(of: Bool.self)
    let service = StoreMaintenance(
      store: home.store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock
    ) { daily.yield($0 == nil) }
    let running = Task { await service.run() }
    var sound = days.makeAsyncIterator()
    var descriptors: Int?
    for day in 0..<5 * 365 {
      while clock.sleepers == 0 { await Task.yield() }
      clock.advance(by: .seconds(300))
      #expect(await sound.next() == true)
      if day == 30 { descriptors = Self.databases(of: home) }
      while clock.sleepers == 0 { await Task.yield() }
      clock.advance(by: .seconds(86_400))
    }
    running.cancel()
    await running.value
    #expect(Self.databases(of: home) == descriptors)
    #expect(try await home.store.digests.current().record == before)
  }

  @Test("not while somebody writes")
  func busy() async throws {
    let home = try TestHome()
    let clock = ManualClock()
    let (days, daily) = AsyncStream.makeStream(of: Bool.self)
    let service = StoreMaintenance(
      store: home.store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock
    ) { daily.yield($0 == nil) }
    let running = Task { await service.run() }
    var maker = SampleMaker(seed: 3)
    let count = Mutex(0)
    let counting = Task { for await _ in days { count.withLock { $0 += 1 } } }
    for minute in 0..<3 {
      while clock.sleepers == 0 { await Task.yield() }
      _ = try await home.store.apply(ChangeBatch(additions: [maker.steps(at: minute)]))
      clock.advance(by: .seconds(300))
    }
    while clock.sleepers == 0 { await Task.yield() }
    #expect(count.withLock(\.self) == 0)
    running.cancel()
    daily.finish()
    await running.value
    await counting.value
  }

  /// Returns the number of this process's descriptors that refer to the home.
  private static func databases(of home: TestHome) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      return target?.hasPrefix(home.directory.path) == true
    }
  }
}
