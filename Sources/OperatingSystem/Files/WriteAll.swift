import Glibc

/// Writes all of the bytes to a descriptor, however many calls of write(2) that takes. Blocks while the reader or the disk is
/// slow, also where the descriptor is non-blocking, as another process may have made a terminal or a pipe that is shared.
///
/// - Returns: 0, or the `errno` value that ended it; some of the bytes may be written then.
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
