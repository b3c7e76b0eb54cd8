import Foundation
import Glibc
import OperatingSystem
import Synchronization

/// An object store that keeps objects as files of a folder. Files are replaced atomically: a reader or a program that
/// copies them sees the old bytes or the new bytes.
///
/// Two hpeer processes on one machine that write into the same folder wait for each other (flock(2) on the folder).
/// Changes by other machines or programs are detected if they happen before the final check.
///
/// Temporary files of a killed process are deleted before the first write of the next process.
struct FolderStore: ObjectStore {
  /// The age in seconds at which temporary files of other machines are deleted; no write takes that long.
  private static let oldAge: Int = 86_400
  /// The number of folders to synchronize at once; a journaling file system commits them together.
  private static let concurrentSynchronizations = 4
  /// The number of attempts to write a file whose temporary file others delete.
  private static let attempts = 5
  private static let (prefix, suffix) = (".hpeer-", ".tmp")

  let path: String
  /// The path for system calls. During a write it refers to the opened folder, even if a disk is mounted or unmounted
  /// there in the meantime.
  private var place: String
  /// The mark in the names of this store's temporary files, so that files of other programs are left alone.
  let owner: String
  /// The time to wait while other programs hold the folder's lock.
  private let patience: Duration
  private let memory: FolderMemory?
  private let process = OfProcess()

  private final class OfProcess: Sendable {
    let leftoversAreDeleted = Mutex(false)
    /// A mutex held while the folder is locked or waited for, so that writers of one process don't poll.
    let turn = Mutex(())
    let known = Mutex(Known())
  }

  /// The identity of the folder when it was last opened.
  private struct Known {
    var device: dev_t = 0
    var number: ino_t = 0
    /// Whether something was delivered there.
    var hasBegun = false
  }

  /// Creates a store without opening the folder.
  ///
  /// - Parameters:
  ///   - owner: letters and digits that no other machine uses for this folder.
  ///   - patience: the time to wait for other programs' locks before a write fails.
  ///   - memory: if `nil`, any folder at this path is accepted.
  init(path: String, owner: String = "0", patience: Duration = .seconds(20), memory: FolderMemory? = nil) {
    (self.path, self.owner, self.patience, self.memory) = (path, owner, patience, memory)
    place = path
  }

  func get(_ name: String, limit: Int) async throws -> StoredObject? {
    try await onThread { [self] _ in try read(name, limit: limit) }
  }

  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) async throws {
    try await onThread { [self] isCancelled in
      for _ in 0..<Self.attempts {
        let isWritten = try withFolder { folder in
          guard try folder.write(bytes, name, if: condition, unless: isCancelled) else { return false }
          try folder.noteBeginning(with: name)
          return true
        }
        if isWritten { return }
      }
      throw failure("write", name, ENOENT)
    }
  }

  func synchronize(_ names: [String]) async throws {
    let names = Dictionary(names.map { (folder(of: $0), $0) }, uniquingKeysWith: { first, _ in first }).values.sorted()
    try await withThrowingTaskGroup { group in
      for first in 0..<min(names.count, Self.concurrentSynchronizations) {
        group.addTask {
          try await onThread { [self] _ in
            try withFolder { folder in
              for index in stride(from: first, to: names.count, by: Self.concurrentSynchronizations) {
                try folder.synchronize(folder.folder(of: names[index]))
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  func delete(_ name: String) async throws {
    try await onThread { [self] _ in
      try withFolder { folder in
        guard unlink("\(folder.place)/\(name)") != 0, errno != ENOENT, errno != ENOTDIR else { return }
        throw failure("delete", name)
      }
    }
  }

  /// Accepts any folder at the path from now on, as a new beginning. Throws `SystemError`.
  func forget() async throws {
    try await onThread { [memory, process] _ in
      try memory?.forget()
      process.known.withLock { $0 = Known() }
    }
  }

  // MARK: Blocking

  /// Opens the folder and runs a closure on that same folder, even if it is unmounted or replaced in the meantime.
  ///
  /// A missing folder is not created, because it may be an unmounted mount point. A folder that has lost everything
  /// delivered before is refused for the same reason.
  private func withFolder<Value>(_ body: (FolderStore) throws -> Value) throws -> Value {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw failure("open", "") }
      throw DeliveryError.temporary(reason: "there is no folder \(path): make it, or mount what it is on")
    }
    defer { close(descriptor) }
    var folder = self
    folder.place = "/proc/self/fd/\(descriptor)"
    try folder.requireLandmark(descriptor)
    return try body(folder)
  }

  /// Checks that the folder still has what was delivered. Checks again only if the folder is replaced.
  private func requireLandmark(_ descriptor: Int32) throws {
    guard let memory else { return }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("open", "") }
    try process.known.withLock { known in
      if known.device == status.st_dev, known.number == status.st_ino { return }
      let hasBegun = known.hasBegun || memory.hasBegun
      var found = stat()
      if hasBegun, stat("\(place)/\(memory.landmark)", &found) != 0, errno == ENOENT || errno == ENOTDIR {
        throw DeliveryError.temporary(
          reason: "\(path) has nothing of what was delivered before: mount what it is on, or have it begun anew with "
            + "`hpeer destination resync`")
      }
      known = Known(device: status.st_dev, number: status.st_ino, hasBegun: hasBegun)
    }
  }

  private func noteBeginning(with name: String) throws {
    guard let memory, name.hasPrefix(memory.landmark + "/") else { return }
    try process.known.withLock { known in
      if known.hasBegun { return }
      try memory.noteBeginning()
      known.hasBegun = true
    }
  }

  /// Runs a closure while holding the folder's lock. Polls for the lock: a blocked flock(2) could not be cancelled,
  /// and other programs may hold the lock forever.
  private func withLock<Value>(unless isCancelled: () -> Bool, _ body: () throws -> Value) throws -> Value {
    let end = ContinuousClock.now + patience
    return try process.turn.withLock { _ in
      let folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { throw failure("open", "") }
      defer { close(folder) }
      while flock(folder, LOCK_EX | LOCK_NB) != 0 {
        // Some file systems have no locks; a single writer needs none.
        guard errno == EWOULDBLOCK || errno == EINTR else { break }
        if isCancelled() { throw CancellationError() }
        guard ContinuousClock.now < end else {
          throw DeliveryError.temporary(reason: "another program has locked \(path): let it finish")
        }
        usleep(5_000)
      }
      return try body()
    }
  }

  private func read(_ name: String, limit: Int) throws -> StoredObject? {
    try withFile(name) { file throws in
      guard file.size <= limit else { throw DayFiles.tooLarge("\(path)/\(name)") }
      let bytes = try file.bytes()
      return StoredObject(bytes: bytes, version: FolderFile.version(of: bytes))
    }
  }

  /// Opens a file and runs a closure on it.
  ///
  /// - Returns: `nil` if there is no such file.
  private func withFile<Value>(_ name: String, _ body: (borrowing FolderFile) throws -> Value) throws -> Value? {
    let descriptor = open("\(place)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR {
        if place == path { try withFolder { _ in } }
        return nil
      }
      throw failure("read", name)
    }
    guard let file = FolderFile(descriptor, path: "\(path)/\(name)") else {
      throw DeliveryError.unusable(reason: "\(path)/\(name) is no file")
    }
    do { return try body(file) } catch let error as SystemError { throw failure("read", name, error.code) }
  }

  private func folder(of name: String) -> String {
    let file = "\(place)/\(name)"
    return String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
  }

  /// Writes a file if a condition is met.
  ///
  /// - Returns: `false` if another process deleted the temporary file, taking it for a leftover.
  private func write(
    _ bytes: [UInt8], _ name: String, if condition: PutCondition, unless isCancelled: () -> Bool
  ) throws -> Bool {
    let folder = folder(of: name)
    // The mutex keeps other writes of this process from starting during the cleanup.
    try process.leftoversAreDeleted.withLock { areDeleted in
      if !areDeleted { try withLock(unless: isCancelled) { deleteLeftovers() } }
      areDeleted = true
    }
    try makeFolder(folder)
    // Temporary files are in one place, to be found after a crash, or beside a file on another disk.
    var code = try write(bytes, name, if: condition, through: place, unless: isCancelled)
    if code == EXDEV || code == EACCES || code == EPERM {
      code = try write(bytes, name, if: condition, through: folder, unless: isCancelled)
    }
    guard code == 0 || code == ENOENT else { throw failure("write", name, code) }
    return code == 0
  }

  /// Writes a file through a temporary file. Takes the lock only for the final check and the rename, because waiting
  /// for the disk takes longest and can happen in parallel.
  ///
  /// - Parameter workplace: the folder of the temporary file.
  /// - Returns: 0, or `errno` if the temporary file cannot be created or renamed.
  private func write(
    _ bytes: [UInt8], _ name: String, if condition: PutCondition, through workplace: String,
    unless isCancelled: () -> Bool
  ) throws -> Int32 {
    let temporary = "\(workplace)/\(Self.prefix)\(owner)-\(UUID().uuidString.lowercased())\(Self.suffix)"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return errno }
    var isDone = false
    defer { if !isDone { unlink(temporary) } }
    do {
      defer { close(descriptor) }
      let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
      if code != 0 { throw failure("write", name, code) }
      guard fsync(descriptor) == 0 else { throw failure("write", name) }
    }
    let code: Int32 = try withLock(unless: isCancelled) {
      switch condition {
      case .always: break
      case .absent: if try withFile(name, { _ in }) != nil { throw ObjectConflict(name: name) }
      case .unchanged(let version):
        if try withFile(name, { try $0.version() }) != version { throw ObjectConflict(name: name) }
      }
      return rename(temporary, "\(place)/\(name)") == 0 ? 0 : errno
    }
    isDone = code == 0
    return code
  }

  /// Makes the renames in a folder durable.
  private func synchronize(_ folder: String) throws {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Nothing was written into this folder.
      if errno == ENOENT { return }
      throw failure("open", String(folder.dropFirst(place.count + 1)))
    }
    defer { close(descriptor) }
    // Some network file systems don't support this for folders.
    guard fsync(descriptor) != 0, errno != EINVAL, errno != EBADF, errno != ENOTSUP else { return }
    throw failure("write", String(folder.dropFirst(place.count + 1)))
  }

  /// Deletes this owner's temporary files, and those of other owners that are older than a day. Another process of
  /// this owner that is writing notices the loss and writes again.
  private func deleteLeftovers() {
    guard let folder = opendir(place) else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name.hasPrefix(Self.prefix), name.hasSuffix(Self.suffix) else { continue }
      let middle = name.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)
      guard UUID(uuidString: String(middle.suffix(36))) != nil else { continue }
      var status = stat()
      guard lstat("\(place)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      let isOld = time(nil) - status.st_mtim.tv_sec > Self.oldAge
      if isOld || middle.dropLast(36) == "\(owner)-" { unlink("\(place)/\(name)") }
    }
  }

  private func makeFolder(_ folder: String) throws {
    if mkdir(folder, 0o777) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), folder.utf8.count > place.utf8.count else {
      throw failure("make", String(folder.dropFirst(place.count + 1)))
    }
    try makeFolder(String(folder[..<slash]))
    guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
      throw failure("make", String(folder.dropFirst(place.count + 1)))
    }
  }

  private func failure(_ verb: String, _ name: String, _ code: Int32 = errno) -> DeliveryError {
    let place = name.isEmpty ? path : "\(path)/\(name)"
    return switch code {
    case ENOSPC, EDQUOT: .temporary(reason: "the disk of \(path) is full")
    case EACCES, EPERM, EROFS: .unusable(reason: "hpeer may not \(verb) \(place) (\(SystemMessage.text(code)))")
    default: .temporary(reason: "it cannot \(verb) \(place) (\(SystemMessage.text(code)))")
    }
  }
}
