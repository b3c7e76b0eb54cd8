import Glibc

/// Writes all bytes to a descriptor, with as many calls of write(2) as necessary. Blocks while the reader or the disk
/// is slow, even if the descriptor is non-blocking, as another process may have made a shared terminal or pipe.
///
/// - Returns: 0, or the `errno` value of the failure; some of the bytes may have been written.
public func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
  var rest = bytes
  while let start = rest.baseAddress, !rest.isEmpty {
    let written = write(descriptor, start, rest.count)
    if written >= 0 {
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    } else if errno == EAGAIN {
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&entry, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return 0
}
