import Foundation

/// The status of a file, as reported by `stat(2)`.
public struct FileStatus: Hashable, Sendable {
  /// The permission bits with set-user-ID, set-group-ID and sticky: 0 to 0o7777, without the file type.
  public let mode: UInt32
  /// The owner's user ID.
  public let owner: UInt32
  /// The inode number, unique within its file system.
  public let inode: UInt64
  public let isDirectory: Bool
  /// The date of the last change of the contents; for a directory, of its entries.
  public let modified: Date

  /// Queries the kernel, following symbolic links. Nil if the path does not exist or may not be accessed.
  public init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    mode = status.st_mode & 0o7777
    owner = status.st_uid
    inode = UInt64(status.st_ino)
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    modified = Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
  }

  /// Creates a status from known values. The defaults describe a file of root that was changed long ago.
  public init(
    mode: UInt32, owner: UInt32 = 0, inode: UInt64 = 0, isDirectory: Bool = false, modified: Date = .distantPast
  ) {
    self.mode = mode
    self.owner = owner
    self.inode = inode
    self.isDirectory = isDirectory
    self.modified = modified
  }

  /// Returns the path, or its nearest ancestor that exists.
  public static func nearestExisting(_ path: String) -> String {
    var path = path
    while FileStatus(path) == nil, path.count > 1 { path = (path as NSString).deletingLastPathComponent }
    return path.isEmpty ? "/" : path
  }
}

/// The contents of a text file.
public enum FileContents: Hashable, Sendable {
  /// The text, with invalid UTF-8 replaced by U+FFFD.
  case text(String)
  /// The path does not exist.
  case absent
  /// The file exists but cannot be read as text.
  case unreadable

  /// Reads about the first 4 MiB of the file.
  public init(path: String) {
    // Without O_NONBLOCK, opening a FIFO would block forever.
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
