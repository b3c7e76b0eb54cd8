import Dispatch
import HostilePeer
import Synchronization

extension FuzzTarget {
  /// Fuzzes a whole client. The input determines the behaviour of a hostile server.
  @Sendable static func client(_ input: [UInt8]) {
    do {
      _ = try Blocking { try await trials.run(Choices(bytes: input)) }.value()
    } catch {
      fatalError("broken promise: \(error)")
    }
  }

  private static let trials: ClientTrials = {
    do {
      return try Blocking { try await ClientTrials() }.value()
    } catch {
      fatalError("no trials: \(error)")
    }
  }()
}

/// Asynchronous work that blocks libFuzzer's own thread until it is done. No task runs on that thread.
final class Blocking<Value: Sendable>: Sendable {
  private let done = DispatchSemaphore(value: 0)
  private let result = Mutex<Result<Value, any Error>?>(nil)

  init(_ work: @escaping @Sendable () async throws -> Value) {
    Task.detached { [self] in
      do {
        let value = try await work()
        result.withLock { $0 = .success(value) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
  }

  func value() throws -> Value {
    done.wait()
    guard let result = result.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }
}
