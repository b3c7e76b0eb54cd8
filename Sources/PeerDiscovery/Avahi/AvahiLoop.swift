import CAvahi
import Foundation

/// Avahi's event loop, owned by one thread. Its eventfd ends an iteration early.
final class AvahiLoop {
  private let pointer: OpaquePointer
  /// The poll API for `avahi_client_new`, valid as long as this object.
  let api: UnsafePointer<AvahiPoll>

  /// Creates a loop. `bell` remains the caller's, who closes it after this object is gone.
  init(bell: Int32) throws(DiscoveryError) {
    guard let pointer = avahi_simple_poll_new() else { throw .outOfResources }
    self.pointer = pointer
    api = avahi_simple_poll_get(pointer)
    // The watch is freed with the loop.
    let watch = api.pointee.watch_new(
      api, bell, AVAHI_WATCH_IN,
      { _, bell, _, _ in
        var count: UInt64 = 0
        _ = read(bell, &count, MemoryLayout.size(ofValue: count))
      }, nil)
    guard watch != nil else { throw .outOfResources }
  }

  deinit { avahi_simple_poll_free(pointer) }

  /// Waits for the next event, at most for `duration`, and runs Avahi's callbacks.
  func iterate(for duration: Duration? = nil) throws(DiscoveryError) {
    let milliseconds = duration.map { Int32(clamping: max(0, $0 / .milliseconds(1)).rounded(.up)) } ?? -1
    guard avahi_simple_poll_iterate(pointer, milliseconds) == 0 else { throw .outOfResources }
  }
}

extension Int32 {
  fileprivate init(clamping value: Double) {
    self = Int32(Swift.min(value, Double(Int32.max)))
  }
}
