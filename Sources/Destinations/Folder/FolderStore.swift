import Foundation
import Glibc
import OperatingSystem
import Synchronization

/// Objects as files of a folder. A file is replaced in one step: whoever reads it, or copies it elsewhere, has the old bytes or
/// the new ones.
///
/// Two hpeers that write into one folder of one machine wait for each other (flock(2) on the folder); what another machine
/// or program does between reading and writing is seen where it is done before the last look.
///
/// What a write that was killed has left behind is deleted before the first write of the next process.
struct FolderStore: ObjectStore {
  /// After which what other machines have left behind is deleted; no write takes so long.
  private static let oldAge: Int = 86_400
  /// How many folders are waited for at once: a disk that has a journal notes them all with the first.
  private static let concurrentSynchronizations = 4
  /// How often something is written that others delete meanwhile.
  private static let attempts = 5
  private static let (prefix, suffix) = (".hpeer-", ".tmp")

  let path: String
  /// What system calls have in place of ``path``: of one write all go to one folder, whatever is mounted or unmounted there
  /// meanwhile.
  private var place: String
  /// Marks the temporary files of this store, in their names, so that those of other programs are left alone.
  let owner: String
  /// How long other programs may have the folder locked.
  private let patience: Duration
  private let memory: FolderMemory?
  private let process = OfProcess()

  private final class OfProcess: Sendable {
    let leftoversAreDeleted = Mutex(false)
    /// Held while the folder's lock is held or waited for: writers of one process follow each other at once.
    let turn = Mutex(())
    let known = Mutex(Known())
  }

  /// The folder as it was last seen.
  private struct Known {
    var device: dev_t = 0
    var number: ino_t = 0
    /// Whether something was delivered there.
    var hasBegun = false
  }

  /// - Parameters:
  ///   - owner: letters and digits that no other machine writes there under.
  ///   - patience: how long other programs may have the folder locked before a write fails.
  ///   - memory: without it, any folder at this path is taken for the same.
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

  /// From now on any folder is taken, to begin it anew. Throws `SystemError`.
  func forget() async throws {
    try await onThread { [memory, process] _ in
      try memory?.forget()
      process.known.withLock { $0 = Known() }
    }
  }

  // MARK: Blocking

  /// Does something in the folder that is there now, and nowhere else.
  ///
  /// A folder that is missing is not made: it may be where a disk is to be mounted. So may one be that has nothing of what was
  /// delivered.
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

  /// Looks again only where the folder is another than before.
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

  /// Looks for the lock again and again: nothing wakes flock(2), and any program may keep a folder locked for ever.
  private func withLock<Value>(unless isCancelled: () -> Bool, _ body: () throws -> Value) throws -> Value {
    let end = ContinuousClock.now + patience
    return try process.turn.withLock { _ in
      let folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { throw failure("open", "") }
      defer { close(folder) }
      while flock(folder, LOCK_EX | LOCK_NB) != 0 {
        // Not every file system has locks; one writer needs none.
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

  /// - Returns: `nil` where there is no such file.
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

  /// - Returns: whether it was written; otherwise another process has taken what was being written for a leftover.
  private func write(
    _ bytes: [UInt8], _ name: String, if condition: PutCondition, unless isCancelled: () -> Bool
  ) throws -> Bool {
    let folder = folder(of: name)
    // No other write of this process begins while they are deleted.
    try process.leftoversAreDeleted.withLock { areDeleted in
      if !areDeleted { try withLock(unless: isCancelled) { deleteLeftovers() } }
      areDeleted = true
    }
    try makeFolder(folder)
    // All in one place, where they are found after a kill; beside the file where that is on another disk.
    var code = try write(bytes, name, if: condition, through: place, unless: isCancelled)
    if code == EXDEV || code == EACCES || code == EPERM {
      code = try write(bytes, name, if: condition, through: folder, unless: isCancelled)
    }
    guard code == 0 || code == ENOENT else { throw failure("write", name, code) }
    return code == 0
  }

  /// Takes the lock only for the last look and the exchange: waiting for the disk takes longest, and several wait together.
  ///
  /// - Parameter workplace: the folder in which the bytes are until they are whole.
  /// - Returns: 0, or `errno` where the file cannot be made there or not moved from there.
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

  /// What was renamed in a folder is so also after the power has failed.
  private func synchronize(_ folder: String) throws {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Nothing was written into it.
      if errno == ENOENT { return }
      throw failure("open", String(folder.dropFirst(place.count + 1)))
    }
    defer { close(descriptor) }
    // Some network file systems cannot do that for a folder.
    guard fsync(descriptor) != 0, errno != EINVAL, errno != EBADF, errno != ENOTSUP else { return }
    throw failure("write", String(folder.dropFirst(place.count + 1)))
  }

  /// What this owner was writing when it was killed, and what others were a day ago. Another process of this owner may be
  /// writing, and then writes once more.
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
