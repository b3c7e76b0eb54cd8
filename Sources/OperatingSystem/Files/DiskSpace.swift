import Foundation

/// What `statvfs(3)` says of a file system.
public struct DiskSpace: Hashable, Sendable {
  /// Of the whole file system, free or not.
  public var bytes: UInt64
  /// What a user who is not root may still use.
  public var freeBytes: UInt64
  /// Inodes; 0 where the file system makes them as needed.
  public var files: UInt64
  /// Inodes that a user who is not root may still use; says nothing where ``files`` is 0.
  public var freeFiles: UInt64
  /// As it is mounted; whether this user may write is another question.
  public var isReadOnly: Bool
  /// The directory at which the file system begins; `nil` where the path cannot be resolved.
  public var mountPoint: String?

  /// From numbers that are known already. Without those of files, as of a file system that makes inodes as needed.
  public init(
    bytes: UInt64, freeBytes: UInt64, files: UInt64 = 0, freeFiles: UInt64 = 0, isReadOnly: Bool = false,
    mountPoint: String? = nil
  ) {
    self.bytes = bytes
    self.freeBytes = freeBytes
    self.files = files
    self.freeFiles = freeFiles
    self.isReadOnly = isReadOnly
    self.mountPoint = mountPoint
  }

  /// Asks the kernel, which may block on a network's file system. `nil` where the path names nothing, or nothing that
  /// may be looked at.
  @Sendable public init?(path: String) {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    let unit = UInt64(status.f_frsize)
    // A file system of the network or of a user chooses both numbers.
    func bytes(_ blocks: UInt64) -> UInt64 {
      let (product, isTooMany) = blocks.multipliedReportingOverflow(by: unit)
      return isTooMany ? .max : product
    }
    self.init(
      bytes: bytes(UInt64(status.f_blocks)), freeBytes: bytes(UInt64(status.f_bavail)),
      files: UInt64(status.f_files), freeFiles: UInt64(status.f_favail),
      isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0, mountPoint: Self.mountPoint(of: path))
  }

  /// The directory at which the path's file system begins.
  private static func mountPoint(of path: String) -> String? {
    var status = stat()
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    var point = String(cString: real)
    guard stat(point, &status) == 0 else { return nil }
    let device = status.st_dev
    while point != "/" {
      let parent = (point as NSString).deletingLastPathComponent
      guard stat(parent, &status) == 0, status.st_dev == device else { break }
      point = parent
    }
    return point
  }
}
