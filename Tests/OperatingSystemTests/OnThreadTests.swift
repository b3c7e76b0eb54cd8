import Foundation
import OperatingSystem
import Testing

@Suite("Work on a thread of its own")
struct OnThreadTests {
  private struct Failed: Error, Equatable {
    let number: Int
  }

  @Test("gives its value, or throws its error")
  func results() async throws {
    #expect(await onThread { _ in 7 } == 7)
    await #expect(throws: Failed(number: 3)) {
      try await onThread { (_) throws(Failed) -> Int in throw Failed(number: 3) }
    }
  }

  @Test("more may block than there are processors", .timeLimit(.minutes(5)))
  func blocking() async {
    let count = 4 * ProcessInfo.processInfo.activeProcessorCount
    let (arrived, all) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask {
          await onThread { _ in
            arrived.signal()
            all.wait()
          }
        }
      }
      await onThread { _ in
        for _ in 0..<count { arrived.wait() }
        for _ in 0..<count { all.signal() }
      }
    }
  }

  @Test("learns that its task has been cancelled, and is woken", .timeLimit(.minutes(5)))
  func cancellation() async {
    let bell = DispatchSemaphore(value: 0)
    let task = Task {
      await onThread(onCancel: { bell.signal() }) { isCancelled in
        let before = isCancelled()
        bell.wait()
        return (before, isCancelled(), isCancelled())
      }
    }
    task.cancel()
    let (_, after, still) = await task.value
    #expect(after && still)
  }

  @Test("learns it too when the task was cancelled before", .timeLimit(.minutes(5)))
  func cancelledBefore() async {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await onThread { isCancelled in isCancelled() }
    }
    task.cancel()
    #expect(await task.value)
  }
}
