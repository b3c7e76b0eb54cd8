import Foundation
import OperatingSystem
import TestSupport
import Testing

@Suite("The service manager", .timeLimit(.minutes(5)))
struct ServiceManagerTests {
  @Test("is told, by path and by abstract name, one message at a time", arguments: [false, true])
  func tells(isAbstract: Bool) async throws {
    let directory = try TemporaryDirectory()
    let socket = try NotifySocket(
      isAbstract ? "@hpeer-test-\(UUID().uuidString)" : directory.path("notify"))
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.name]))
    #expect(manager.watchdog == nil)
    #expect(await manager.tell(.ready(status: "Serving\nWATCHDOG=1")))
    #expect(await manager.tell(.alive))
    #expect(await manager.tell(.reloading(at: .seconds(3) + .microseconds(7))))
    #expect(await manager.tell(.stopping))
    var messages = socket.messages.makeAsyncIterator()
    // What is said cannot add a line of its own.
    #expect(await messages.next() == ["READY=1", "STATUS=Serving WATCHDOG=1"])
    #expect(await messages.next() == ["WATCHDOG=1"])
    #expect(await messages.next() == ["RELOADING=1", "MONOTONIC_USEC=3000007"])
    #expect(await messages.next() == ["STOPPING=1"])
  }

  @Test("is none where nobody waits to hear, and may be gone")
  func absent() async throws {
    #expect(ServiceManager(environment: [:]) == nil)
    for name in ["", "/", "relative", "vsock:2:1234", "/" + String(repeating: "x", count: 107)] {
      #expect(ServiceManager(environment: ["NOTIFY_SOCKET": name]) == nil, "\(name)")
    }
    let gone = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]))
    #expect(await gone.tell(.alive) == false)
  }

  @Test("watches this process, where it says so")
  func watchdog() throws {
    func watchdog(_ variables: [String: String]) -> Duration? {
      let environment = variables.merging(["NOTIFY_SOCKET": "/run/notify"]) { $1 }
      return ServiceManager(environment: environment, process: 42)?.watchdog
    }
    #expect(watchdog(["WATCHDOG_USEC": "60000000"]) == .seconds(60))
    #expect(watchdog(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "42"]) == .seconds(60))
    #expect(watchdog(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "43"]) == nil)
    for text in ["", "0", "-1", "x", "99999999999999999999"] { #expect(watchdog(["WATCHDOG_USEC": text]) == nil) }
  }

  @Test("the monotonic clock is that of the kernel")
  func monotonic() {
    let before = ServiceManager.monotonicNow()
    #expect(before > .zero && ServiceManager.monotonicNow() >= before)
  }
}
