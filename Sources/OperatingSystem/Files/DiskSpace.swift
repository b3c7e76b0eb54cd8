import Foundation

/// The space on a file system, as reported by `statvfs(3)`.
public struct DiskSpace: Hashable, Sendable {
  /// The size of the file system, in bytes.
  public var bytes: UInt64
  /// The bytes that a user other than root may still use.
  public var freeBytes: UInt64
  /// The number of inodes; 0 if the file system allocates them as needed.
  public var files: UInt64
  /// The number of inodes that a user other than root may still use; meaningless if ``files`` is 0.
  public var freeFiles: UInt64
  /// Whether the file system is mounted read-only. Says nothing about this user's permissions.
  public var isReadOnly: Bool
  /// The mount point of the file system; `nil` if the path cannot be resolved.
  public var mountPoint: String?

  /// Creates a value from known numbers. The defaults describe a file system that allocates inodes as needed.
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

  /// Queries the kernel, which may block on a network file system. `nil` if the path does not exist or may not be
  /// accessed.
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

  /// Returns the mount point of the path's file system.
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
