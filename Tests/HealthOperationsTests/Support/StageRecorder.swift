import HealthOperations
import Synchronization

/// Remembers the stages of an operation, and can do something when one advances.
final class StageRecorder: ProgressObserver {
  private struct State {
    var begun: [ProgressStage] = []
    var finished = 0
  }

  private let state = Mutex(State())
  private let whenAdvancing: @Sendable () -> Void

  init(whenAdvancing: @escaping @Sendable () -> Void = {}) {
    self.whenAdvancing = whenAdvancing
  }

  var begun: [ProgressStage] { state.withLock(\.begun) }
  /// How many have finished.
  var finished: Int { state.withLock(\.finished) }

  func begin(_ stage: ProgressStage) -> any StageObserver {
    state.withLock { $0.begun.append(stage) }
    return Stage(recorder: self)
  }

  private final class Stage: StageObserver {
    private let recorder: StageRecorder
    private let isFinished = Mutex(false)

    init(recorder: StageRecorder) { self.recorder = recorder }

    func setTotal(items: Int?) {}
    func advance(items: Int, bytes: Int) { recorder.whenAdvancing() }
    func update(items: Int, bytes: Int) { recorder.whenAdvancing() }
    func update(bytes: Int) {}
    func hear() {}

    func finish() {
      let isFirst = isFinished.withLock { isFinished in
        defer { isFinished = true }
        return !isFinished
      }
      if isFirst { recorder.state.withLock { $0.finished += 1 } }
    }
  }
}
