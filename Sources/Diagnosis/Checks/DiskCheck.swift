import Foundation
import OperatingSystem
import PeerTrust

/// A check that the disk of the store is writable and has room, in bytes and in inodes.
struct DiskCheck: Check {
  let id = "disk"
  let title = "the disk"
  var subject: Subject
  var space: @Sendable (String) -> DiskSpace? = DiskSpace.init(path:)

  init(subject: Subject) { self.subject = subject }

  private static let mebibyte: UInt64 = 1 << 20

  func findings() async -> [Finding] {
    let path = FileStatus.nearestExisting(subject.home)
    guard let space = await onThread({ [space] _ in space(path) }) else {
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
