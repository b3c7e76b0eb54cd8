import OperatingSystem
import TestSupport
import Testing

@Suite("Time")
struct ClockTests {
  @Test("is measured by the clock that is given")
  func stopwatch() {
    let clock = ManualClock()
    let elapsed = clock.stopwatch()
    #expect(elapsed() == .zero)
    clock.advance(by: .seconds(90))
    #expect(elapsed() == .seconds(90))
  }

  @Test("limits work that does not end, and no other", .timeLimit(.minutes(5)))
  func limit() async {
    let clock = ManualClock()
    #expect(await TimeLimit.run(.seconds(5), clock: clock) { 7 } == 7)
    async let nothing = TimeLimit.run(.seconds(5), clock: clock) {
      for await _ in AsyncStream<Void>.makeStream().stream {}
    }
    while clock.sleepers == 0 { await Task.yield() }
    clock.advance(by: .seconds(5))
    #expect(await nothing == nil)
  }

  @Test("pauses double up to the longest, and are half chance")
  func backOff() {
    var backOff = BackOff(first: .seconds(1), longest: .seconds(30))
    for whole in [1.0, 2, 4, 8, 16, 30, 30] {
      let pause = backOff.next() / .seconds(1)
      #expect(whole / 2 <= pause && pause <= whole)
    }
    #expect(backOff.next(atLeast: .seconds(60)) == .seconds(60))
    backOff.reset()
    #expect(backOff.next() <= .seconds(1))
  }
}
