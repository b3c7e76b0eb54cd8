import Foundation

/// Directories and files that only their owner may read.
enum PrivateDirectory {
  /// Makes `path`, and what leads to it, with mode 0700. One that is there already keeps its mode: it may be shared, and
  /// the files in it are private by themselves.
  static func prepare(_ path: String) throws(StoreError) {
    if mkdir(path, 0o700) == 0 { return }
    switch errno {
    case EEXIST:
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw .unusableDirectory(path: path, detail: reason(errno: ENOTDIR))
      }
    case ENOENT:
      guard let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex else { fallthrough }
      try prepare(String(path[..<slash]))
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else { fallthrough }
    default: throw .unusableDirectory(path: path, detail: reason(errno: errno))
    }
  }

  /// Makes an empty file of mode 0600 where there is none. SQLite gives its WAL the mode of the database.
  ///
  /// A file that is there is not opened: closing it would take away the locks that this process holds on it through
  /// SQLite. For the same reason, only to be called while ``locked(_:_:)``.
  static func createFile(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
      return
    }
    if errno == ENOSPC { throw .diskFull(path: path) }
    guard errno == EEXIST, access(path, R_OK | W_OK) == 0 else { throw .notPermitted(path: path) }
  }

  /// Runs `body` while no other process is in it: two first runs must not both make the tables.
  static func locked<T>(_ path: String, _ body: () throws -> T) throws -> T {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw errno == ENOSPC ? StoreError.diskFull(path: path) : .notPermitted(path: path) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw StoreError.unusableDirectory(path: path, detail: reason(errno: errno)) }
    }
    return try body()
  }

  private static func reason(errno code: Int32) -> String {
    String(cString: strerror(code))
  }
}
