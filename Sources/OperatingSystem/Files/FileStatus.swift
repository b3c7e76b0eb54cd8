import Foundation

/// What `stat(2)` says of a path. Nil where it names nothing, or nothing that may be looked at.
public struct FileStatus: Hashable, Sendable {
  /// Permission bits with set-user-ID, set-group-ID and sticky: 0 to 0o7777, without the kind of file.
  public let mode: UInt32
  /// A user id.
  public let owner: UInt32
  /// Unique in its file system only.
  public let inode: UInt64
  public let isDirectory: Bool
  /// When the contents changed last: of a directory, its entries.
  public let modified: Date

  /// Asks the kernel; of a symbolic link, what it leads to.
  public init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    mode = status.st_mode & 0o7777
    owner = status.st_uid
    inode = UInt64(status.st_ino)
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    modified = Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
  }

  /// From values that are known already. What is left out is as of a file of root, changed long ago.
  public init(
    mode: UInt32, owner: UInt32 = 0, inode: UInt64 = 0, isDirectory: Bool = false, modified: Date = .distantPast
  ) {
    self.mode = mode
    self.owner = owner
    self.inode = inode
    self.isDirectory = isDirectory
    self.modified = modified
  }

  /// The path, or the nearest directory above it that is there.
  public static func nearestExisting(_ path: String) -> String {
    var path = path
    while FileStatus(path) == nil, path.count > 1 { path = (path as NSString).deletingLastPathComponent }
    return path.isEmpty ? "/" : path
  }
}

/// What can be read of a file.
public enum FileContents: Hashable, Sendable {
  /// What is not UTF-8 in it is replaced by U+FFFD.
  case text(String)
  /// Nothing has this path.
  case absent
  /// It is there, and cannot be read as a text.
  case unreadable

  /// The first 4 MiB of the file.
  public init(path: String) {
    // Without O_NONBLOCK a FIFO in the file's place would block for ever.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      self = errno == ENOENT || errno == ENOTDIR ? .absent : .unreadable
      return
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < 4 << 20 {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        self = .unreadable
        return
      }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    self = .text(String(decoding: bytes, as: UTF8.self))
  }
}
