import HealthOperations
import Synchronization

/// A recorder of an operation's progress stages that can run a closure whenever a stage advances.
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
  /// The number of stages that have finished.
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
