import CLinux
import Glibc

/// Files and directories that only their owner may read: modes 0600 and 0700 whatever the umask.
///
/// Neither a file nor the directory it is in may be a symbolic link: both are opened for themselves, the file relative to
/// its directory. What leads to that directory may be.
public enum PrivateFile {
  /// Opens a file; one that is made has mode 0600.
  ///
  /// - Parameter flags: of open(2). No link is followed, and the descriptor is not inherited.
  public static func open(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
    let (parent, name) = split(path)
    let folder = Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else {
      let code = errno
      // A link is no directory, says the kernel where it is asked for one.
      throw SystemError("open", parent, code: isLink(parent) ? ELOOP : code)
    }
    defer { close(folder) }
    let descriptor = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    return descriptor
  }

  /// Makes the directory and its missing parents. Throws where others could exchange what is in it
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

  /// Writes a file that must not exist yet, down to the disk.
  public static func create(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let descriptor = try open(path, O_WRONLY | O_CREAT | O_EXCL)
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw SystemError("chmod", path) }
    let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0 else { throw SystemError("write", path, code: code) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }

  /// Replaces a file in one step: a reader sees the old bytes or the new ones, also after a crash.
  public static func replace(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let temporary = "\(path).new"
    if unlink(temporary) != 0 && errno != ENOENT { throw SystemError("unlink", temporary) }
    try create(temporary, bytes)
    guard rename(temporary, path) == 0 else { throw SystemError("rename", path) }
    try synchronizeParent(of: path)
  }

  /// Exchanges what two paths name: both name something at every instant, also across a crash.
  public static func exchange(_ first: String, _ second: String) throws(SystemError) {
    guard linux_exchange(first, second) == 0 else { throw SystemError("rename", second) }
    try synchronizeParent(of: second)
  }

  /// Removes a directory with the files of these names, and nothing through a link in its place.
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
    // Without O_NONBLOCK a FIFO in the file's place would block for ever.
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

  /// Whether there is anything, also a link that leads nowhere.
  public static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Whether the path names nothing for certain, and it is not that nobody may look.
  public static func isMissing(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
  }

  /// The mode bits of what the path names, or nil if it names nothing. Those of a link are 0777.
  public static func mode(_ path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  /// Whether the path itself names a symbolic link, wherever that leads; not whether a directory before it is one.
  public static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Throws for the first of these paths that names a symbolic link.
  public static func requireNoLinks(_ paths: [String]) throws(SystemError) {
    for path in paths {
      var status = stat()
      if lstat(path, &status) == 0 {
        if status.st_mode & S_IFMT == S_IFLNK { throw SystemError("open", path, code: ELOOP) }
      } else if errno == EACCES {
        // Nothing that is in the folder would be found, as if it were not there.
        throw SystemError("lstat", split(path).parent, code: EACCES)
      }
    }
  }

  private static func split(_ path: String) -> (parent: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
  }
}
