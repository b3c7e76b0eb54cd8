import Foundation
import Testing

@testable import PeerDiscovery

/// Tests without a system bus. The bus is missing for the whole process, because no test in it needs one.
@Suite("Without D-Bus", .serialized)
struct DaemonAbsentTests {
  /// Whether the bus address was set. Set once, because changing the environment isn't safe while other threads read
  /// it, and libdbus also reads it once.
  private static let busIsAbsent =
    setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/hpeer-tests/system_bus_socket", 1) == 0

  init() throws {
    try #require(Self.busIsAbsent)
  }

  private func isNoDBus(_ error: (any Error)?) -> Bool {
    if case .noDBus = error as? DiscoveryError { true } else { false }
  }

  @Test("Browsing fails at once and says why", .timeLimit(.minutes(5)))
  func browsing() async {
    let error = await #expect(throws: DiscoveryError.self) {
      for try await event in ServiceBrowser().events() { Issue.record("unexpected \(event)") }
    }
    #expect(isNoDBus(error))
  }

  @Test("A snapshot fails without waiting for its time to pass", .timeLimit(.minutes(5)))
  func snapshot() async {
    let error = await #expect(throws: DiscoveryError.self) {
      try await ServiceBrowser().snapshot(for: .seconds(3600))
    }
    #expect(isNoDBus(error))
  }

  @Test("A host name fails at once, too", .timeLimit(.minutes(5)))
  func hostName() async {
    let error = await #expect(throws: DiscoveryError.self) {
      try await HostNameLookup().addresses(of: "studio.local", within: .seconds(3600))
    }
    #expect(isNoDBus(error))
  }

  @Test("Advertising reports once and waits until it is cancelled", .timeLimit(.minutes(5)))
  func advertising() async throws {
    let advertiser = try ServiceAdvertiser(name: "test", port: 1)
    let run = Task { try await advertiser.run() }
    var events = advertiser.events.makeAsyncIterator()
    guard case .daemonUnavailable(let reason)? = await events.next() else {
      Issue.record("no report that the daemon is unavailable")
      return
    }
    #expect(isNoDBus(reason))
    // Past the second attempt, which comes after a second.
    try await Task.sleep(for: .milliseconds(1300))
    run.cancel()
    try await run.value
    #expect(await events.next() == nil)
  }

  @Test("Advertising that is cancelled before it begins returns", .timeLimit(.minutes(5)))
  func cancelledAtOnce() async throws {
    let advertiser = try ServiceAdvertiser(name: "test", port: 1)
    let run = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await advertiser.run()
    }
    try await run.value
  }

  @Test("A TXT record that cannot be sent is refused before anything is published")
  func invalidRecord() throws {
    #expect(throws: DiscoveryError.invalidTXTEntry(key: "a=b")) {
      try ServiceAdvertiser(name: "test", port: 1, txt: [("a=b", "1")])
    }
    let advertiser = try ServiceAdvertiser(name: "test", port: 1)
    #expect(throws: DiscoveryError.invalidTXTEntry(key: "")) { try advertiser.update(txt: [("", "1")]) }
  }
}

@Suite("Discovery errors")
struct DiscoveryErrorTests {
  @Test("A missing daemon or bus is explained with the command that starts it and the way around it")
  func hints() {
    #expect(DiscoveryError.daemonNotRunning.description.contains("sudo systemctl start avahi-daemon"))
    #expect(DiscoveryError.noDBus(reason: "x").description.contains("sudo systemctl start dbus"))
    for error in [DiscoveryError.daemonNotRunning, .noDBus(reason: "x"), .publishingNotPermitted] {
      #expect(error.description.contains("--host NAME:PORT"))
    }
  }

  @Test("A hostile key cannot reach the terminal raw")
  func escapes() {
    #expect(!DiscoveryError.invalidTXTEntry(key: "\u{1B}[2J").description.contains("\u{1B}"))
  }
}
