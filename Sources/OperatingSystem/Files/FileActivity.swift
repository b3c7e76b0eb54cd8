import Dispatch
import Foundation

/// A watcher that reports when any process on this machine writes or creates a file. Uses inotify(7) on the
/// directory, because the file itself may be deleted and created again. Reports nothing if the kernel does not, as on
/// a network file system.
///
/// Unchecked, because everything but `init` runs on its queue.
public final class FileActivity: @unchecked Sendable {
  private let source: any DispatchSourceRead
  private let descriptor: CInt
  private let name: String
  private let queue: DispatchQueue
  private let pause: Duration
  private let happened: @Sendable () -> Void
  private var isPaused = false
  private var isCancelled = false

  /// Returns a stream that yields when the file is written or created and buffers at most one element. `nil` if
  /// inotify is not available.
  ///
  /// ```swift
  /// func follow(_ log: String) async {
  ///   guard let hints = FileActivity.hints(of: log, pausing: .seconds(1)) else { return }
  ///   for await _ in hints { print("\(log) was written") }
  /// }
  /// ```
  ///
  /// - Parameter pausing: the time after each report during which nothing is reported.
  public static func hints(of path: String, pausing pause: Duration) -> AsyncStream<Void>? {
    let (hints, hint) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let queue = DispatchQueue(label: "hpeer.file.hints")
    guard let activity = FileActivity(of: path, pausing: pause, on: queue, { hint.yield() }) else { return nil }
    // The handler also keeps the activity alive for as long as the stream.
    hint.onTermination = { _ in queue.async { activity.cancel() } }
    return hints
  }

  /// Starts watching a file.
  ///
  /// - Parameter pausing: the time after each report during which nothing is reported; a transaction makes many
  ///   writes.
  public init?(
    of path: String, pausing pause: Duration, on queue: DispatchQueue, _ happened: @escaping @Sendable () -> Void
  ) {
    descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard inotify_add_watch(descriptor, directory, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)) >= 0 else {
      close(descriptor)
      return nil
    }
    name = URL(fileURLWithPath: path).lastPathComponent
    self.queue = queue
    self.pause = pause
    self.happened = happened
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setCancelHandler { [descriptor] in close(descriptor) }
    source.setEventHandler { [weak self] in self?.eventsCame() }
    source.resume()
  }

  /// Stops watching and closes the descriptor. Call it on the queue; repeated calls are allowed.
  public func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    source.cancel()
    // A suspended source would never close its descriptor.
    if isPaused { source.resume() }
  }

  private func eventsCame() {
    guard !isCancelled, concernsFile() else { return }
    source.suspend()
    isPaused = true
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(pause / .nanoseconds(1)))) { self.goOn() }
    happened()
  }

  private func goOn() {
    guard !isCancelled else { return }
    isPaused = false
    source.resume()
  }

  /// Reads all pending events and returns whether any concerns the file.
  private func concernsFile() -> Bool {
    var concerns = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let start = offset + MemoryLayout<inotify_event>.size
          let bytes = buffer[start..<start + Int(event.len)].prefix { $0 != 0 }
          // Events without a name mean that the queue overflowed or the directory was deleted.
          if bytes.isEmpty || bytes.elementsEqual(name.utf8) { concerns = true }
          offset = start + Int(event.len)
        }
      }
    }
    return concerns
  }
}
