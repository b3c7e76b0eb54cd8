import GRDB
import OperatingSystem

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The reason why the store could not do what was asked. Each description is one sentence for a person.
public enum StoreError: Error, Hashable, Sendable {
  /// No store exists at this path yet.
  case missing(path: String)
  /// A newer version of hpeer wrote the store. It was left untouched.
  case newerSchema(path: String)
  /// The file is not an SQLite database of hpeer, or has damaged pages. It was left untouched.
  case corrupt(path: String, detail: String)
  /// Another process held the write lock for longer than the busy timeout.
  case locked(path: String)
  /// No space is left, or a quota is used up. What was committed before is safe.
  case diskFull(path: String)
  /// Too little space is left to write changes, because room is kept for small and important writes: `free` bytes are
  /// left, and `needed` must stay free.
  case lowSpace(path: String, free: UInt64, needed: UInt64)
  /// The file or its directory cannot be read or written, or the store was opened read-only.
  case notPermitted(path: String)
  /// Users other than the owner may read or write these files of the store. Never empty.
  case openToOthers(paths: [String])
  /// A symbolic link is in the place of a file of the store. The store follows no links there.
  case link(path: String)
  /// The directory cannot be created or is open to other users. The detail says what to do, if that is known.
  case unusableDirectory(path: String, detail: String)
  /// The anchor is before the changes that the store can still replay, or after its end. The reader must start over.
  case anchorOutOfRange
  /// The person of the record has changed since the decision to write, or was set or removed.
  case ownerChanged(path: String)
  /// The step that a consumer of the feed was about to save is not its next step any more.
  case consumerChanged(name: String)
  /// The file was deleted, moved away or replaced while it was in use. Data written to it since is lost.
  case gone(path: String)
  /// A backup is replacing the store, so nothing may be written.
  case beingReplaced(path: String)
  /// Another process has the store open, so it may not be replaced.
  ///
  /// - Parameter by: the process, such as `hpeer import (process 4711)`, or `nil` if it is not visible here.
  case inUse(path: String, by: String?)
  /// The task was cancelled before the store had finished.
  case cancelled
  /// Another error of SQLite or GRDB.
  case other(path: String, detail: String)
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let path):
      "There is no health store at \(path) yet: run `hpeer import` or `hpeer pull` first."
    case .newerSchema(let path):
      "The store at \(path) was written by a newer hpeer and was left untouched: update hpeer on this machine."
    case .corrupt(let path, let detail):
      "The store at \(path) is damaged (\(detail)) and was left untouched: restore a copy, or move it away and pull again."
    case .locked(let path):
      "Another process keeps the store at \(path) locked: wait for it to finish, then try again."
    case .diskFull(let path):
      "The disk that holds \(path) is full; what was committed before is safe: make room, then run the same command again."
    case .lowSpace(let path, let free, let needed):
      "The disk that holds \(path) is nearly full (\(free >> 20) MB left, and \(max(1, needed >> 20)) MB are to stay free), so nothing more was written; what came before is safe: make room, then run the same command again."
    case .notPermitted(let path):
      "No permission for \(path), or its disk is read-only: run this as the user who owns it (`ls -ld \(ShellWord.quoted(path))`), or give this user the right to it."
    case .openToOthers(let paths):
      "\(paths.first ?? "The store") is open to other users, so it is not used; run: chmod 600 \(paths.map(ShellWord.quoted).joined(separator: " "))"
    case .link(let path):
      "\(path) is a symbolic link, and hpeer follows none in its own directory: put the file itself there, or name the directory that has it with --home."
    case .unusableDirectory(let path, let detail):
      "The directory \(path) cannot hold the store (\(detail)): make it one that this user can write to, or name another with --home."
    case .anchorOutOfRange:
      "The change token does not belong to what this store holds: start over with a full pull."
    case .ownerChanged(let path):
      "Something else has changed whose record the store at \(path) is, so that no more was written into it: wait until that has ended, then try again."
    case .consumerChanged(let name):
      "Something else has gone on for \(name), or it was removed or set otherwise: nothing is lost, and it goes on from where it stands."
    case .gone(let path):
      "\(path) was deleted, moved away or replaced while it was in use, so nothing more is read from it or written: start again when the right one is in its place."
    case .beingReplaced(let path):
      "A backup is being put into \(path): wait until that has ended, then run the same command again."
    case .inUse(let path, let holder):
      "\(holder ?? "Another process") uses the store in \(path), so nothing was put into its place: let it end, then run the same command again."
    case .cancelled:
      "Interrupted."
    case .other(let path, let detail):
      "The store at \(path) could not do this: \(detail)."
    }
  }
}

extension StoreError {
  /// Whether freeing space on the disk resolves the error by itself.
  public var isOutOfRoom: Bool {
    switch self {
    case .diskFull, .lowSpace: true
    default: false
    }
  }

  /// Creates the error that corresponds to an error of GRDB or SQLite.
  ///
  /// - Parameter isCancelled: whether the operation that waited for a lock was cancelled. SQLite reports that as a
  ///   timeout.
  init(_ error: any Error, path: String, isCancelled: Bool) {
    let error = StoreError(error, path: path)
    if case .locked = error, isCancelled { self = .cancelled } else { self = error }
  }

  /// Creates the error that corresponds to an error of GRDB or SQLite.
  init(_ error: any Error, path: String) {
    if let error = error as? StoreError {
      self = error
      return
    }
    if let error = error as? SystemError {
      self = .init(error)
      return
    }
    if error is CancellationError {
      self = .cancelled
      return
    }
    guard let error = error as? DatabaseError else {
      self = .other(path: path, detail: "\(error)")
      return
    }
    let detail = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked(path: path)
    case .SQLITE_FULL: self = .diskFull(path: path)
    case .SQLITE_NOTADB, .SQLITE_CORRUPT: self = .corrupt(path: path, detail: detail)
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_CANTOPEN: self = .notPermitted(path: path)
    // The only operation on the shared-memory file is to enlarge it.
    case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: self = .diskFull(path: path)
    case .SQLITE_IOERR where error.message?.contains("No space") == true: self = .diskFull(path: path)
    default: self = .other(path: path, detail: detail)
    }
  }

  private init(_ error: SystemError) {
    switch error.code {
    case ENOSPC, EDQUOT: self = .diskFull(path: error.path)
    case ELOOP: self = .link(path: error.path)
    case EACCES, EROFS: self = .notPermitted(path: error.path)
    default: self = .unusableDirectory(path: error.path, detail: error.reason)
    }
  }
}
