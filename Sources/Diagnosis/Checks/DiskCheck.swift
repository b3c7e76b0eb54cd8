import Foundation
import HomeFiles
import PeerTrust

/// Room for the store, in bytes and in files, on a disk that can be written to.
struct DiskCheck: Check {
  let id = "disk"
  let title = "the disk"
  var subject: Subject
  var space: @Sendable (String) -> DiskSpace? = DiskSpace.init(path:)

  init(subject: Subject) { self.subject = subject }

  private static let mebibyte: UInt64 = 1 << 20

  func findings() async -> [Finding] {
    let path = FileStatus.nearestExisting(subject.home)
    guard let space = await BlockingWork.run({ [space] in space(path) }) else {
      return [Finding(.warning, "disk.unknown", "The disk that holds \(path) could not be looked at")]
    }
    return [judge(space, path)]
  }

  private func judge(_ space: DiskSpace, _ path: String) -> Finding {
    if space.isReadOnly {
      return Finding(
        .blocking, "disk.readonly", "The disk that holds \(path) is mounted read-only",
        remedy: "sudo mount -o remount,rw \(ShellWord.quoted(space.mountPoint ?? path)), or choose another with --home")
    }
    let free = Self.text(space.freeBytes)
    let remedy =
      "make room; what is large: sudo du -xh --max-depth=2 \(ShellWord.quoted(space.mountPoint ?? "/")) | sort -h | tail"
    if space.freeBytes < 64 * Self.mebibyte {
      return Finding(.blocking, "disk.full", "The disk that holds \(path) is full: \(free) left", remedy: remedy)
    }
    if space.files > 0, space.freeFiles < 100 {
      return Finding(
        .blocking, "disk.files", "The disk that holds \(path) can take only \(space.freeFiles) more files",
        remedy: "remove files that are not needed: df -i shows how many there are")
    }
    if space.freeBytes < 1024 * Self.mebibyte || Double(space.freeBytes) < 0.05 * Double(space.bytes) {
      return Finding(
        .warning, "disk.low", "The disk that holds \(path) is nearly full: \(free) left", remedy: remedy)
    }
    if space.files > 0, Double(space.freeFiles) < 0.05 * Double(space.files) {
      return Finding(
        .warning, "disk.files.low", "The disk that holds \(path) is running out of room for files (inodes)",
        remedy: "remove files that are not needed: df -i shows how many there are")
    }
    return Finding(.ok, "disk.ok", "The disk has room: \(free) left")
  }

  private static func text(_ bytes: UInt64) -> String {
    if bytes < mebibyte { return "\(bytes / 1024) KiB" }
    if bytes < 1024 * mebibyte { return "\(bytes / mebibyte) MiB" }
    return "\(bytes / (1024 * mebibyte)) GiB"
  }
}

/// What `statvfs(3)` says of a file system.
struct DiskSpace: Hashable, Sendable {
  var bytes: UInt64
  /// What a user who is not root may still use.
  var freeBytes: UInt64
  /// Inodes; 0 where the file system makes them as needed.
  var files: UInt64
  var freeFiles: UInt64
  var isReadOnly: Bool
  var mountPoint: String?

  init(
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

  @Sendable init?(path: String) {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    let unit = UInt64(status.f_frsize)
    self.init(
      bytes: UInt64(status.f_blocks) * unit, freeBytes: UInt64(status.f_bavail) * unit,
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
