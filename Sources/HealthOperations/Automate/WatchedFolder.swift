import Foundation
import Glibc
import OperatingSystem

/// A folder that is watched for new files, and the pattern of their names.
public struct WatchedFolder: Hashable, Sendable {
  /// The seconds without writes after which a file counts as complete. A file that grows later has a new version.
  static let quiet: TimeInterval = 3
  /// The maximum number of files listed, and of files skipped. More follow when these are gone.
  private static let mostFiles = 10_000
  /// The name endings that browsers and copying programs give incomplete files.
  private static let unfinished = [".part", ".partial", ".crdownload", ".download", ".tmp", ".filepart", "~"]

  /// The absolute path of the folder.
  public let path: String
  /// The shell pattern for file names.
  public let pattern: String

  /// A file in its state at one time.
  struct File: Hashable, Sendable {
    var name: String
    var path: String
    /// The version, which changes when the file is written to or replaced.
    var version: String
    var modified: Double

    /// The name in bytes, because two names that Unicode considers equal may be two files.
    var key: [UInt8] { Array(name.utf8) }
  }

  /// The reasons to skip a file that matches the pattern.
  enum Obstacle: String {
    /// The file is a symbolic link, which may point to anything.
    case link
    /// The name is not UTF-8, so no setting or message could name the file.
    case name
    /// The process died each time while it read the file.
    case ended
  }

  /// The content of the folder.
  struct Contents {
    /// The complete files, the oldest first.
    var files: [File] = []
    /// The skipped files by name, as far as the name can be decoded.
    var passedOver: [String: Obstacle] = [:]
  }

  /// Lists the folder. Blocking.
  ///
  /// - Parameters:
  ///   - now: the current time in seconds since 1970.
  ///   - most: the maximum number of files listed, and of files skipped.
  func contents(
    now: Double = Date().timeIntervalSince1970, most: Int = mostFiles
  ) throws(SystemError) -> Contents {
    guard let folder = opendir(path) else { throw SystemError("read", path, code: errno) }
    defer { closedir(folder) }
    var contents = Contents()
    func passOver(_ name: String, _ obstacle: Obstacle) {
      // Skipped files do not count against the limit of listed files.
      if contents.passedOver.count < most { contents.passedOver[name] = obstacle }
    }
    while contents.files.count < most, let entry = readdir(folder) {
      let (name, isText) = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          (String(cString: $0), String(validatingCString: $0) != nil)
        }
      }
      guard !name.hasPrefix("."), fnmatch(pattern, name, 0) == 0,
        !Self.unfinished.contains(where: name.lowercased().hasSuffix)
      else { continue }
      guard isText else {
        passOver(name, .name)
        continue
      }
      var status = stat()
      let path = "\(path)/\(name)"
      guard lstat(path, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFLNK { passOver(name, .link) }
      guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { continue }
      let modified = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
      // The modification time may be in the future, set by another machine's clock.
      guard abs(now - modified) >= Self.quiet else { continue }
      contents.files.append(File(name: name, path: path, version: Self.version(status), modified: modified))
    }
    // A name that is not UTF-8 may look like the name of a listed file.
    for file in contents.files { contents.passedOver[file.name] = nil }
    contents.files.sort { ($0.modified, $0.name) < ($1.modified, $1.name) }
    return contents
  }

  /// Returns the present version of a file, or `nil` if it no longer exists as a file. Blocking.
  func version(of path: String) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Self.version(status)
  }

  private static func version(_ status: stat) -> String {
    "\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)-\(status.st_ino)"
  }
}
