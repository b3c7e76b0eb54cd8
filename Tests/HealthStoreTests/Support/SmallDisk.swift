import Foundation
import TestSupport

/// A small file system in memory that fills up quickly. Needs root.
final class SmallDisk {
  static let isAvailable = geteuid() == 0 && canMount()

  private let directory: TemporaryDirectory
  var path: String { directory.path }

  init(kilobytes: Int) throws {
    directory = try TemporaryDirectory()
    guard Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k,mode=0700", "tmpfs", directory.path) else {
      throw Failure()
    }
  }

  func remount(_ option: String) throws {
    guard Self.run("/bin/mount", "-o", "remount,\(option)", path) else { throw Failure() }
  }

  /// Unmounts the file system lazily, because a store may be closed a moment later.
  func unmount() {
    _ = Self.run("/bin/umount", "-l", path)
  }

  struct Failure: Error {}

  private static func canMount() -> Bool {
    guard let disk = try? SmallDisk(kilobytes: 64) else { return false }
    disk.unmount()
    return true
  }

  private static func run(_ program: String, _ arguments: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
