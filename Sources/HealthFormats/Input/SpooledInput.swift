import Foundation

/// A copy of standard input in an unnamed file, so that it can be read twice.
public final class SpooledInput: Sendable {
  private let descriptor: Int32

  /// The path of the copy for this process. Valid as long as this object exists.
  public var path: String { "/proc/self/fd/\(descriptor)" }

  /// Copies all data from `input`. Blocks.
  ///
  /// - Parameters:
  ///   - input: a file descriptor, which stays open.
  ///   - directory: a folder of this user's own with room for all of it. The file has mode 0600 and is removed before
  ///     anything is written to it.
  ///   - isCancelled: asked now and then.
  public init(
    from input: Int32 = STDIN_FILENO, in directory: String, isCancelled: () -> Bool = { false }
  ) throws {
    var template = Array("\(directory)/import.XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw ImportError(errno: errno, path: directory) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    unlink(template)
    do {
      try Self.copy(input, to: descriptor, in: directory, isCancelled)
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// Returns the error with "standard input" in place of ``path``, which the person does not know.
  public func naming(_ error: ImportError) -> ImportError { error.replacing(path, with: "standard input") }

  private static func copy(_ input: Int32, to output: Int32, in directory: String, _ isCancelled: () -> Bool) throws {
    let size = 1 << 20
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      if isCancelled() { throw CancellationError() }
      // A person who types may pause, so look for cancellation meanwhile.
      var wait = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
      if poll(&wait, 1, 200) == 0 { continue }
      let count = read(input, buffer, size)
      if count == 0 { return }
      if count < 0 {
        if errno == EINTR { continue }
        throw ImportError(errno: errno, path: "standard input")
      }
      var written = 0
      while written < count {
        let result = write(output, buffer + written, count - written)
        if result < 0, errno != EINTR { throw ImportError(errno: errno, path: directory) }
        written += max(0, result)
      }
    }
  }
}
