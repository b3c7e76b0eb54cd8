import Crypto
import Foundation
import Glibc
import OperatingSystem

/// Objects as files of a folder. A file is replaced in one step: whoever reads it, or copies it elsewhere, has the old bytes or
/// the new ones.
///
/// Two hpeers that write into one folder of one machine wait for each other (flock(2) on the folder); what another machine
/// or program does between reading and writing is seen where it is done before the last look.
struct FolderStore: ObjectStore {
  let path: String

  func get(_ name: String) async throws -> StoredObject? {
    try await onThread { [self] _ in try read(name) }
  }

  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) async throws {
    try await onThread { [self] _ in
      try requireFolder()
      try withLock {
        switch condition {
        case .always: break
        case .absent: if try read(name) != nil { throw ObjectConflict(name: name) }
        case .unchanged(let version): if try read(name)?.version != version { throw ObjectConflict(name: name) }
        }
        try write(bytes, name)
      }
    }
  }

  func delete(_ name: String) async throws {
    try await onThread { [self] _ in
      try requireFolder()
      guard unlink("\(path)/\(name)") != 0, errno != ENOENT, errno != ENOTDIR else { return }
      throw failure("delete", name)
    }
  }

  // MARK: Blocking

  /// A folder that is missing is not made: it may be where a disk is to be mounted.
  private func requireFolder() throws {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw DeliveryError.temporary(reason: "there is no folder \(path): make it, or mount what it is on")
    }
  }

  private func withLock(_ body: () throws -> Void) throws {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw failure("open", "") }
    defer { close(folder) }
    // Not every file system has locks; one writer needs none.
    while flock(folder, LOCK_EX) != 0, errno == EINTR {}
    try body()
  }

  private func read(_ name: String) throws -> StoredObject? {
    let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR {
        try requireFolder()
        return nil
      }
      throw failure("read", name)
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw DeliveryError.unusable(reason: "\(path)/\(name) is no file")
    }
    guard status.st_size <= DayFiles.largestObject else {
      throw DeliveryError.unusable(reason: "\(path)/\(name) is larger than any that is merged")
    }
    let bytes: [UInt8]
    do { bytes = [UInt8](try file.readToEnd() ?? Data()) } catch { throw failure("read", name) }
    let hash = SHA256.hash(data: bytes).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return StoredObject(bytes: bytes, version: ObjectVersion(rawValue: hash.joined()))
  }

  private func write(_ bytes: [UInt8], _ name: String) throws {
    let file = "\(path)/\(name)"
    let folder = String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
    try makeFolder(folder)
    let temporary = "\(folder)/.hpeer-\(UUID().uuidString.lowercased()).tmp"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure("write", name) }
    var isDone = false
    defer { if !isDone { unlink(temporary) } }
    do {
      defer { close(descriptor) }
      let code = bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
      if code != 0 { throw failure("write", name, code) }
      guard fsync(descriptor) == 0 else { throw failure("write", name) }
    }
    guard rename(temporary, file) == 0 else { throw failure("write", name) }
    isDone = true
    let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { throw failure("write", name) }
    defer { close(parent) }
    // Some network file systems cannot do that for a folder.
    if fsync(parent) != 0, errno != EINVAL, errno != EBADF, errno != ENOTSUP { throw failure("write", name) }
  }

  private func makeFolder(_ folder: String) throws {
    if mkdir(folder, 0o777) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), folder.utf8.count > path.utf8.count else {
      throw failure("make", String(folder.dropFirst(path.count + 1)))
    }
    try makeFolder(String(folder[..<slash]))
    guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
      throw failure("make", String(folder.dropFirst(path.count + 1)))
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
