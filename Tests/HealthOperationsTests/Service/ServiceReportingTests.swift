import HealthOperations
import Logging
import OperatingSystem
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@Suite("Reporting to the service manager", .timeLimit(.minutes(5)))
struct ServiceReportingTests {
  private func manager(_ socket: NotifySocket, watchdog: String? = nil) throws -> ServiceManager {
    var environment = ["NOTIFY_SOCKET": socket.name]
    environment["WATCHDOG_USEC"] = watchdog
    return try #require(ServiceManager(environment: environment))
  }

  @Test("alive twice in each time, and only while everything answers")
  func watchdog() async throws {
    let directory = try TemporaryDirectory()
    let socket = try NotifySocket(directory.path("notify"))
    let clock = ManualClock()
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    let asked = Mutex(0)
    let reporting = ServiceReporting(
      try manager(socket, watchdog: "60000000"), readyAtOnce: "Delivering", clock: clock
    ) {
      asked.withLock { $0 += 1 }
      _ = await answers.first { _ in true }
    }
    let running = Task { await reporting.run() }
    var messages = socket.messages.makeAsyncIterator()
    #expect(await messages.next() == ["READY=1", "STATUS=Delivering"])
    for turn in 1...3 {
      while asked.withLock(\.self) < turn { await Task.yield() }
      answer.yield()
      #expect(await messages.next() == ["WATCHDOG=1"])
      while clock.sleepers == 0 { await Task.yield() }
      clock.advance(by: .seconds(30))
    }
    while asked.withLock(\.self) < 4 { await Task.yield() }
    // Nothing answers any more: time passes, and nothing is said until it ends.
    clock.advance(by: .seconds(600))
    running.cancel()
    await running.value
    while let message = await messages.next(), message != ["STOPPING=1"] {
      // The one that the end has woken.
      #expect(message == ["WATCHDOG=1"])
    }
    #expect(asked.withLock(\.self) == 4)
  }

  @Test("settings that are read again, and the end")
  func reload() async throws {
    let directory = try TemporaryDirectory()
    let socket = try NotifySocket(directory.path("notify"))
    let reporting = ServiceReporting(try manager(socket)) {}
    let group = ServiceGroup(services: [reporting], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let running = Task { try await group.run() }
    await reporting.ready("Serving on port 1")
    let before = ServiceManager.monotonicNow()
    await reporting.reload {}
    var messages = socket.messages.makeAsyncIterator()
    #expect(await messages.next() == ["READY=1", "STATUS=Serving on port 1"])
    let reloading = try #require(await messages.next())
    #expect(reloading.first == "RELOADING=1")
    let instant = try #require(reloading.last?.split(separator: "=").last.flatMap { Int64($0) })
    #expect(Duration.microseconds(instant) >= before - .microseconds(1))
    #expect(await messages.next() == ["READY=1", "STATUS=Serving on port 1"])
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(await messages.next() == ["STOPPING=1"])
  }
}
