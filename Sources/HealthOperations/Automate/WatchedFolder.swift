import Foundation
import Glibc
import OperatingSystem

/// A folder into which files are put, and which of them count.
public struct WatchedFolder: Hashable, Sendable {
  /// What was not written to for so long is taken to be whole. One that goes on growing afterwards is another version, and
  /// comes again.
  static let quiet: TimeInterval = 3
  /// Of one folder; what is beyond comes when others are gone. As many are passed over at most.
  private static let mostFiles = 10_000
  /// What browsers and copying programs call a file that is not whole yet.
  private static let unfinished = [".part", ".partial", ".crdownload", ".download", ".tmp", ".filepart", "~"]

  /// Absolute.
  public let path: String
  /// As a shell has it, of the name.
  public let pattern: String

  /// A file as it was at one time.
  struct File: Hashable, Sendable {
    var name: String
    var path: String
    /// Is another when it is written to or replaced.
    var version: String
    var modified: Double

    /// Of the name: what Unicode calls equal may be two files.
    var key: [UInt8] { Array(name.utf8) }
  }

  /// Why a file is not taken that looks as if it were to be.
  enum Obstacle: String {
    /// A symbolic link: what it points to may be anything.
    case link
    /// Its name is not UTF-8, so that it could be named nowhere.
    case name
    /// hpeer itself ended each time while it read the file.
    case ended
  }

  /// What is in it.
  struct Contents {
    /// Those that are whole, the oldest first.
    var files: [File] = []
    /// By name, as far as that can be read.
    var passedOver: [String: Obstacle] = [:]
  }

  /// Blocking.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - most: how many files are listed, and how many that are passed over.
  func contents(
    now: Double = Date().timeIntervalSince1970, most: Int = mostFiles
  ) throws(SystemError) -> Contents {
    guard let folder = opendir(path) else { throw SystemError("read", path, code: errno) }
    defer { closedir(folder) }
    var contents = Contents()
    func passOver(_ name: String, _ obstacle: Obstacle) {
      // What is not taken leaves its place to what is.
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
      // Another machine's clock may be ahead.
      guard abs(now - modified) >= Self.quiet else { continue }
      contents.files.append(File(name: name, path: path, version: Self.version(status), modified: modified))
    }
    // A name that is not UTF-8 may read like that of a file that is taken.
    for file in contents.files { contents.passedOver[file.name] = nil }
    contents.files.sort { ($0.modified, $0.name) < ($1.modified, $1.name) }
    return contents
  }

  /// The version that a file has now; `nil` of one that is gone or is no file any more. Blocking.
  func version(of path: String) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Self.version(status)
  }

  private static func version(_ status: stat) -> String {
    "\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)-\(status.st_ino)"
  }
}
