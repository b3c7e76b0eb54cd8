import Testing

@testable import PeerDiscovery

@Suite("Pauses before avahi-daemon is connected to again")
struct ReconnectionPauseTests {
  @Test("A daemon that is absent is asked less often, and yet found within ten seconds of its return")
  func absent() {
    var pause = ReconnectionPause()
    let pauses = (1...1000).map { _ in pause.next(after: .milliseconds(2)) }
    #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    #expect(pauses.dropFirst(4).allSatisfy { $0 == .seconds(10) })
  }

  @Test("A daemon that was there for a while and is restarted is asked at once, however often it is restarted")
  func restarted() {
    var pause = ReconnectionPause()
    for _ in 1...10 { _ = pause.next(after: .zero) }
    for _ in 1...10 { #expect(pause.next(after: .seconds(6)) == .seconds(1)) }
  }
}
