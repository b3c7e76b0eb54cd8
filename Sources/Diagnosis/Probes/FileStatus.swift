import Foundation

/// What `stat(2)` says of a path. Nil where it names nothing, or nothing that may be looked at.
struct FileStatus: Hashable, Sendable {
  let mode: UInt32
  let owner: UInt32
  let inode: UInt64
  let isDirectory: Bool
  let modified: Date

  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    mode = status.st_mode & 0o7777
    owner = status.st_uid
    inode = UInt64(status.st_ino)
    isDirectory = status.st_mode & S_IFMT == S_IFDIR
    modified = Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
  }

  init(mode: UInt32, owner: UInt32 = 0, inode: UInt64 = 0, isDirectory: Bool = false, modified: Date = .distantPast) {
    self.mode = mode
    self.owner = owner
    self.inode = inode
    self.isDirectory = isDirectory
    self.modified = modified
  }

  /// The path, or the nearest directory above it that is there.
  static func nearestExisting(_ path: String) -> String {
    var path = path
    while FileStatus(path) == nil, path.count > 1 { path = (path as NSString).deletingLastPathComponent }
    return path.isEmpty ? "/" : path
  }
}
