import Glibc

/// A file that was opened once, without following a link, and is read through its descriptor, so that another process
/// cannot replace it between checks and reads.
public final class PinnedFile: Sendable {
  /// The path that was opened.
  public let name: String
  /// The path to open instead of ``name`` while this object exists.
  public let path: String
  private let descriptor: Int32

  /// Opens a file. Throws `SystemError` if it cannot be opened, is a link, or is not a regular file.
  public init(_ name: String) throws(SystemError) {
    let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError("open", name) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw SystemError("open", name, code: EINVAL, remedy: "it is no file")
    }
    (self.name, self.descriptor) = (name, descriptor)
    path = "/proc/self/fd/\(descriptor)"
  }

  deinit { close(descriptor) }
}
