#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Files and directories that only their owner may read: modes 0600 and 0700 whatever the umask.
enum PrivateFile {
  /// Makes the directory and its missing parents. An existing one is left as it is.
  static func makeDirectory(_ path: String) throws(SystemError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex else {
      throw SystemError("mkdir", path)
    }
    try makeDirectory(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError("mkdir", path) }
  }

  /// Writes a file that must not exist yet, down to the disk.
  static func create(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw SystemError("chmod", path) }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write", path) }
      written += count
    }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }

  /// Replaces a file in one step: a reader sees the old bytes or the new ones, also after a crash.
  static func replace(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let temporary = "\(path).new"
    if unlink(temporary) != 0 && errno != ENOENT { throw SystemError("unlink", temporary) }
    try create(temporary, bytes)
    guard rename(temporary, path) == 0 else { throw SystemError("rename", path) }
    try synchronizeParent(of: path)
  }

  /// Makes a rename in the path's directory durable.
  static func synchronizeParent(of path: String) throws(SystemError) {
    let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("open", parent) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", parent) }
  }

  /// Reads a regular file of at most `limit` bytes, together with its mode bits.
  static func read(_ path: String, limit: Int = 65_536) throws(SystemError) -> (bytes: [UInt8], mode: UInt32) {
    // Without O_NONBLOCK a FIFO in the file's place would block for ever.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("stat", path) }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    guard isFile, status.st_size <= limit else {
      errno = isFile ? EFBIG : EINVAL
      throw SystemError("read", path)
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= limit {
      let count = systemRead(descriptor, &buffer)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw SystemError("read", path) }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return (bytes, status.st_mode & 0o7777)
  }

  private static func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, &buffer, buffer.count)
    #elseif canImport(Musl)
      Musl.read(descriptor, &buffer, buffer.count)
    #else
      Darwin.read(descriptor, &buffer, buffer.count)
    #endif
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The mode bits of what the path names, or nil if it names nothing.
  static func mode(_ path: String) -> UInt32? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}
