import CLinux
import Glibc

/// Files and directories that only their owner may access: modes 0600 and 0700 whatever the umask.
///
/// Neither a file nor its directory may be a symbolic link: the directory is opened first, then the file relative to
/// it. Links in the path that leads to the directory are allowed.
public enum PrivateFile {
  /// Opens a file; a new file gets mode 0600.
  ///
  /// - Parameter flags: the flags of open(2). Links are not followed, and the descriptor is not inherited.
  public static func open(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
    let (parent, name) = split(path)
    let folder = Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else {
      let code = errno
      // For a link, the kernel only reports that it is not a directory.
      throw SystemError("open", parent, code: isLink(parent) ? ELOOP : code)
    }
    defer { close(folder) }
    let descriptor = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    return descriptor
  }

  /// Creates the directory and its missing parents. Throws if other users could replace its contents
  /// (``HomeDirectory/requirePrivate(_:)``).
  public static func makeDirectory(_ path: String) throws(SystemError) {
    try make(path)
    try HomeDirectory.requirePrivate(path)
  }

  private static func make(_ path: String) throws(SystemError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex else {
      throw SystemError("mkdir", path)
    }
    try make(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError("mkdir", path) }
  }

  /// Creates a file, which must not exist yet, and syncs it to disk.
  public static func create(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let descriptor = try open(path, O_WRONLY | O_CREAT | O_EXCL)
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw SystemError("chmod", path) }
    let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0 else { throw SystemError("write", path, code: code) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }

  /// Replaces a file atomically: a reader sees the old bytes or the new ones, even after a crash.
  public static func replace(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let temporary = "\(path).new"
    if unlink(temporary) != 0 && errno != ENOENT { throw SystemError("unlink", temporary) }
    try create(temporary, bytes)
    guard rename(temporary, path) == 0 else { throw SystemError("rename", path) }
    try synchronizeParent(of: path)
  }

  /// Exchanges two paths atomically: both exist at every instant, even across a crash.
  public static func exchange(_ first: String, _ second: String) throws(SystemError) {
    guard linux_exchange(first, second) == 0 else { throw SystemError("rename", second) }
    try synchronizeParent(of: second)
  }

  /// Removes a directory with the files of these names. If a link is in its place, only the link is removed.
  public static func discard(_ directory: String, _ names: [String]) {
    if isLink(directory) {
      unlink(directory)
      return
    }
    for name in names { unlink("\(directory)/\(name)") }
    rmdir(directory)
  }

  /// Makes a rename in the path's directory durable.
  public static func synchronizeParent(of path: String) throws(SystemError) {
    let parent = split(path).parent
    let descriptor = Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("open", parent) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", parent) }
  }

  /// Reads a regular file of at most `limit` bytes, together with its mode bits.
  public static func read(_ path: String, limit: Int = 65_536) throws(SystemError) -> (bytes: [UInt8], mode: UInt32) {
    // Without O_NONBLOCK, opening a FIFO would block forever.
    let descriptor = try open(path, O_RDONLY | O_NONBLOCK)
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("stat", path) }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    guard isFile, status.st_size <= limit else { throw SystemError("read", path, code: isFile ? EFBIG : EINVAL) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw SystemError("read", path) }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return (bytes, status.st_mode & 0o7777)
  }

  /// Returns whether the path exists, even as a dangling link.
  public static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Returns whether the path certainly does not exist. False if its directory may not be searched.
  public static func isMissing(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
  }

  /// Returns the mode bits of the path, or nil if it does not exist. A link has 0777.
  public static func mode(_ path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  /// Returns whether the path itself is a symbolic link. Links among its directories do not count.
  public static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Throws for the first of these paths that is a symbolic link.
  public static func requireNoLinks(_ paths: [String]) throws(SystemError) {
    for path in paths {
      var status = stat()
      if lstat(path, &status) == 0 {
        if status.st_mode & S_IFMT == S_IFLNK { throw SystemError("open", path, code: ELOOP) }
      } else if errno == EACCES {
        // Nothing in this folder can be found, as if it did not exist.
        throw SystemError("lstat", split(path).parent, code: EACCES)
      }
    }
  }

  private static func split(_ path: String) -> (parent: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
  }
}
