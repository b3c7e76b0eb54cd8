import Synchronization
import Testing

@testable import Terminal

@Suite struct ProgressBarTests {
  /// A 60-column terminal whose clock moves only on demand.
  private final class Screen: Sendable {
    let writes = Mutex<[String]>([])
    let time = Mutex(Duration.seconds(100))

    var surface: ProgressBar.Surface {
      ProgressBar.Surface(
        style: .plain, usesUTF8: true, columns: { 60 },
        now: { self.time.withLock { $0 } },
        write: { text in self.writes.withLock { $0.append(text) } })
    }

    func pass(_ duration: Duration) {
      time.withLock { $0 += duration }
    }

    func taken() -> [String] {
      writes.withLock { writes in
        defer { writes = [] }
        return writes
      }
    }

    func bar(_ label: String = "Pulling", total: Int? = 100, patience: Duration? = nil) -> ProgressBar {
      ProgressBar(
        label: label, totalItems: total, patience: patience, surface: surface,
        log: { text in self.writes.withLock { $0.append(text) } })
    }
  }

  @Test func paintsAtMostTenTimesASecond() {
    let screen = Screen()
    let bar = screen.bar()
    for _ in 0..<1000 {
      screen.pass(.milliseconds(1))
      bar.advance(items: 1)
    }
    #expect(screen.taken().count == 10)
    bar.finish()
  }

  @Test func repaintsOneLineInPlace() {
    let screen = Screen()
    let bar = screen.bar()
    bar.advance(items: 20)
    screen.pass(.seconds(1))
    bar.advance(items: 30)
    #expect(
      screen.taken() == [
        "\rPulling  ██░░░░░░░░   20%   20/100\u{1b}[K",
        "\rPulling  █████░░░░░   50%   50/100       50/s   0:01 left\u{1b}[K",
      ])
    bar.finish()
  }

  @Test func absoluteCountsReplaceWhatWas() {
    let screen = Screen()
    let bar = screen.bar(total: nil)
    bar.advance(items: 7, bytes: 7)
    bar.setTotal(items: nil)
    screen.pass(.seconds(1))
    bar.update(items: 5000, bytes: 1_500_000)
    #expect(screen.taken().last == "\rPulling      5,000  1.50 MB    5,000/s\u{1b}[K")
    bar.finish()
  }

  @Test func whatElseIsWrittenHasALineOfItsOwn() {
    let screen = Screen()
    let bar = screen.bar()
    bar.aside {}
    #expect(screen.taken().isEmpty)
    bar.advance(items: 20)
    screen.pass(.seconds(1))
    bar.setLabel("Days\u{7}")
    let painted = screen.taken()
    #expect(painted.count == 2 && painted[1].hasPrefix("\rDays"), "\(painted)")
    bar.aside { #expect(screen.taken() == ["\r\u{1b}[K"]) }
    #expect(screen.taken() == [painted[1]])
    bar.finish()
  }

  @Test func silenceIsSaidAfterSomeSecondsAndCounted() {
    let screen = Screen()
    let bar = screen.bar(total: 1000, patience: .seconds(30))
    screen.pass(.seconds(1))
    bar.update(items: 500, bytes: 0)
    #expect(screen.taken().last?.contains("500/s") == true)
    screen.pass(.seconds(2))
    bar.tick()
    #expect(screen.taken().last?.contains("waiting") == false)
    screen.pass(.seconds(1))
    bar.tick()
    #expect(screen.taken().last?.contains("  waiting 0:03 of 0:30") == true)
    screen.pass(.seconds(9))
    bar.tick()
    #expect(screen.taken().last?.contains("  waiting 0:12 of 0:30") == true)
    // Bytes that make no item yet end the silence as well, and so does what changes no number.
    bar.update(bytes: 10)
    screen.pass(.milliseconds(100))
    bar.tick()
    #expect(screen.taken().last?.contains("waiting") == false)
    screen.pass(.seconds(3))
    bar.hear()
    #expect(screen.taken().last?.contains("waiting") == false)
    bar.finish()
  }

  @Test func onlyABarWithPatienceAppearsByItself() {
    let screen = Screen()
    let impatient = screen.bar()
    screen.pass(.seconds(5))
    impatient.tick()
    #expect(screen.taken().isEmpty)
    let patient = screen.bar(total: nil, patience: .seconds(30))
    screen.pass(.seconds(4))
    patient.tick()
    #expect(screen.taken() == ["\rPulling          0  waiting 0:04 of 0:30\u{1b}[K"])
    patient.finish()
    impatient.finish()
  }

  @Test func finishClearsTheLineOnceAndForGood() {
    let screen = Screen()
    let bar = screen.bar()
    bar.advance(items: 1)
    _ = screen.taken()
    bar.finish()
    bar.finish()
    screen.pass(.seconds(1))
    bar.advance(items: 1)
    #expect(screen.taken() == ["\r\u{1b}[K"])
  }

  @Test func aBarThatIsForgottenClearsItself() {
    let screen = Screen()
    do {
      let bar = screen.bar()
      bar.advance(items: 1)
    }
    #expect(screen.taken().last == "\r\u{1b}[K")
  }

  @Test func nothingPaintedNothingCleared() {
    let screen = Screen()
    screen.bar().finish()
    #expect(screen.taken().isEmpty)
  }

  @Test func aNoteGoesAboveTheBar() {
    let screen = Screen()
    let bar = screen.bar(total: nil)
    bar.note("before")
    bar.advance(items: 3)
    bar.note("retrying")
    #expect(
      screen.taken() == [
        "before\n", "\rPulling          3\u{1b}[K", "\r\u{1b}[K", "retrying\n", "\rPulling          3\u{1b}[K",
      ])
    bar.finish()
  }

  @Test func withoutATerminalOnlyNotesAreWritten() {
    let notes = Mutex<[String]>([])
    withExtendedLifetime(notes) {
      let screen = Screen()
      let bar = ProgressBar(
        label: "Pulling", totalItems: 10, surface: nil, log: { text in screen.writes.withLock { $0.append(text) } })
      bar.advance(items: 10)
      bar.note("done")
      bar.finish()
      #expect(screen.taken() == ["done\n"])
    }
  }

  @Test func aHostileLabelIsEscaped() {
    let screen = Screen()
    let bar = screen.bar("a\u{1b}b", total: nil)
    bar.advance(items: 1)
    #expect(screen.taken() == ["\ra\\u{1b}b          1\u{1b}[K"])
    bar.finish()
  }

  @Test func manyThreadsLoseNothing() async {
    let screen = Screen()
    let bar = screen.bar(total: nil)
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<1000 { bar.advance(items: 1) } }
      }
    }
    screen.pass(.seconds(1))
    bar.tick()
    #expect(screen.taken().last == "\rPulling      4,000    4,000/s\u{1b}[K")
    bar.finish()
  }
}
