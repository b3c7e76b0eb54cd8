import Glibc

/// A file that was opened once, without following a link, and is read through that: whoever may write to its folder cannot put
/// another in its place meanwhile.
public final class HeldFile: Sendable {
  /// As it was named.
  public let name: String
  /// What to open instead of ``name`` for as long as this is held.
  public let path: String
  private let descriptor: Int32

  /// Throws `SystemError` for what cannot be opened, is a link, or is no file.
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
