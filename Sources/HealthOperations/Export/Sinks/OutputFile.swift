import Foundation
import Glibc
import OperatingSystem
import Synchronization

/// A file that is written under a temporary name in the same folder, and renamed when it is complete.
final class OutputFile: ExportSink {
  private struct Place {
    var path: String
    var temporary: String
    var replaces: Bool
  }

  private let place: Place
  private let descriptor: Int32
  private let isOpen: Mutex<Bool>

  /// Creates the temporary file.
  ///
  /// - Parameter replaces: whether an existing file may be replaced.
  init(path: String, replaces: Bool) throws(ExportError) {
    var status = stat()
    let exists = lstat(path, &status) == 0
    if exists, status.st_mode & S_IFMT == S_IFDIR {
      throw .isFolder(path: path)
    }
    if exists, !replaces { throw .alreadyThere(path: path) }
    let url = URL(fileURLWithPath: path)
    let temporary = url.deletingLastPathComponent()
      .appendingPathComponent(".\(url.lastPathComponent.prefix(64)).\(UUID().uuidString).partial").path
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    place = Place(path: path, temporary: temporary, replaces: replaces)
    self.descriptor = descriptor
    isOpen = Mutex(true)
  }

  deinit { discard() }

  /// The final path of the file.
  var path: String { place.path }
  /// The path of the incomplete file, for code that writes it without ``write(_:)``.
  var temporaryPath: String { place.temporary }

  /// Writes bytes to the temporary file. Blocking.
  func write(_ bytes: [UInt8]) throws {
    let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    guard code == 0 else { throw Self.failure(place.path, code) }
  }

  /// Moves the file to its final path, and synchronizes the file and its folder with the disk.
  func finish() throws {
    let isOurs = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    guard isOurs else { return }
    var code = fsync(descriptor) == 0 ? 0 : errno
    if close(descriptor) != 0, code == 0 { code = errno }
    if code == 0 { code = Self.move(place.temporary, to: place.path, replaces: place.replaces) }
    if code != 0 {
      unlink(place.temporary)
      if code == EEXIST { throw ExportError.alreadyThere(path: place.path) }
      throw Self.failure(place.path, code)
    }
    Self.synchronise(folder: URL(fileURLWithPath: place.path).deletingLastPathComponent().path)
  }

  /// Deletes the incomplete file. Does nothing if the file is complete.
  func discard() {
    let isOurs = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    guard isOurs else { return }
    close(descriptor)
    unlink(place.temporary)
  }

  /// Moves a file. Returns 0 or an `errno` value: `EEXIST` if a file has appeared at the path in the meantime.
  static func move(_ temporary: String, to path: String, replaces: Bool) -> Int32 {
    if replaces { return rename(temporary, path) == 0 ? 0 : errno }
    if link(temporary, path) == 0 {
      unlink(temporary)
      return 0
    }
    guard errno != EEXIST else { return EEXIST }
    // The file system does not support hard links.
    var status = stat()
    if lstat(path, &status) == 0 { return EEXIST }
    return rename(temporary, path) == 0 ? 0 : errno
  }

  /// Synchronizes a folder's entries with the disk, if the file system supports that.
  static func synchronise(folder path: String) {
    let folder = open(path, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  static func failure(_ path: String, _ code: Int32) -> ExportError {
    code == ENOSPC || code == EDQUOT
      ? .diskFull(path: path) : .unwritable(path: path, reason: SystemMessage.text(code))
  }
}
