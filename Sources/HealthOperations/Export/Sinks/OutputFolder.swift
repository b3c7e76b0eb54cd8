import Foundation
import Glibc
import OperatingSystem
import Synchronization

/// A set of files that are written into a temporary folder, and moved to their folder together when all are complete.
final class OutputFolder: Sendable {
  private struct State {
    var names: [String] = []
    var isOpen = true
  }

  private let path: String
  /// The path of the temporary folder.
  private let temporary: String
  private let isNew: Bool
  private let replaces: Bool
  private let state = Mutex(State())

  /// Creates the temporary folder.
  ///
  /// - Parameters:
  ///   - path: the path of the folder, which need not exist; its parent must exist.
  ///   - replaces: whether existing files may be replaced.
  init(path: String, replaces: Bool) throws(ExportError) {
    let path = Self.withoutSlashes(path)
    self.path = path
    self.replaces = replaces
    var status = stat()
    isNew = stat(path, &status) != 0
    if !isNew, status.st_mode & S_IFMT != S_IFDIR { throw .isNoFolder(path: path) }
    let url = URL(fileURLWithPath: path, isDirectory: true)
    let parent = isNew ? url.deletingLastPathComponent() : url
    temporary =
      parent.appendingPathComponent(".\(url.lastPathComponent.prefix(64)).\(UUID().uuidString).partial").path
    guard mkdir(temporary, 0o700) == 0 else { throw OutputFile.failure(path, errno) }
  }

  deinit { discard() }

  /// Removes trailing slashes: `months//` becomes `months`, and `/` stays.
  private static func withoutSlashes(_ path: String) -> String {
    let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }
    return end.map { String(path[...$0]) } ?? path
  }

  /// Opens a file. Each name may be used once.
  func file(_ name: String) throws(ExportError) -> any ExportSink {
    let place = "\(path)/\(name)"
    var status = stat()
    if !isNew, !replaces, lstat(place, &status) == 0 { throw .alreadyThere(path: place) }
    return try StagedFile(name, at: "\(temporary)/\(name)", of: self)
  }

  /// Moves all finished files to their folder and synchronizes them with the disk. If that fails, the files that were
  /// already moved are removed again, unless existing files may be replaced.
  ///
  /// - Returns: the number of files.
  func finish() throws(ExportError) -> Int {
    let names = state.withLock { state in
      state.isOpen = false
      return state.names
    }
    do throws(ExportError) {
      let code = synchroniseFileSystem(of: temporary)
      guard code == 0 else { throw OutputFile.failure(path, code) }
      if isNew {
        guard rename(temporary, path) == 0 else {
          throw errno == ENOTEMPTY || errno == EEXIST
            ? .alreadyThere(path: path) : OutputFile.failure(path, errno)
        }
        OutputFile.synchronise(folder: URL(fileURLWithPath: path).deletingLastPathComponent().path)
      } else {
        try move(names)
        OutputFile.synchronise(folder: path)
      }
    } catch {
      remove(names)
      throw error
    }
    return names.count
  }

  /// Deletes the incomplete files. Does nothing after ``finish()``.
  func discard() {
    let names = state.withLock { state in
      defer { state.isOpen = false }
      return state.isOpen ? state.names : nil
    }
    if let names { remove(names) }
  }

  private func move(_ names: [String]) throws(ExportError) {
    for (index, name) in names.enumerated() {
      let code = OutputFile.move("\(temporary)/\(name)", to: "\(path)/\(name)", replaces: replaces)
      if code == 0 { continue }
      if !replaces { for moved in names[..<index] { unlink("\(path)/\(moved)") } }
      if code == EEXIST { throw .alreadyThere(path: "\(path)/\(name)") }
      throw OutputFile.failure("\(path)/\(name)", code)
    }
    rmdir(temporary)
  }

  private func remove(_ names: [String]) {
    for name in names { unlink("\(temporary)/\(name)") }
    rmdir(temporary)
  }

  /// A sink for one file of the folder.
  private final class StagedFile: ExportSink {
    private let name: String
    private let temporary: String
    private let folder: OutputFolder
    private let descriptor: Mutex<Int32>

    init(_ name: String, at temporary: String, of folder: OutputFolder) throws(ExportError) {
      self.name = name
      self.temporary = temporary
      self.folder = folder
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw OutputFile.failure("\(folder.path)/\(name)", errno) }
      self.descriptor = Mutex(descriptor)
    }

    deinit { discard() }

    func write(_ bytes: [UInt8]) throws {
      let code = descriptor.withLock { descriptor in bytes.withUnsafeBytes { writeAll($0, to: descriptor) } }
      guard code == 0 else { throw OutputFile.failure("\(folder.path)/\(name)", code) }
    }

    func finish() throws {
      guard let descriptor = take() else { return }
      guard close(descriptor) == 0 else {
        let code = errno
        unlink(temporary)
        throw OutputFile.failure("\(folder.path)/\(name)", code)
      }
      folder.state.withLock { $0.names.append(name) }
    }

    func discard() {
      guard let descriptor = take() else { return }
      close(descriptor)
      unlink(temporary)
    }

    /// Returns the descriptor at the first call, and `nil` later, so that it is closed once.
    private func take() -> Int32? {
      descriptor.withLock { descriptor in
        defer { descriptor = -1 }
        return descriptor >= 0 ? descriptor : nil
      }
    }
  }
}
