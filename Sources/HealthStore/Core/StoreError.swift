import GRDB
import OperatingSystem

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Why the store could not do what was asked. Each description is one sentence for a person.
public enum StoreError: Error, Hashable, Sendable {
  /// There is no store at this path yet.
  case missing(path: String)
  /// A newer version of hpeer wrote it; it was left untouched.
  case newerSchema(path: String)
  /// Not a SQLite database, or one with damaged pages; it was left untouched.
  case corrupt(path: String, detail: String)
  /// Another process held the write lock for longer than the busy timeout.
  case locked(path: String)
  /// No space is left, or a quota is used up. What was committed before is safe.
  case diskFull(path: String)
  /// So little space is left that nothing more is written, so that what is small and matters still can be: `free` bytes,
  /// where `needed` are to stay free.
  case lowSpace(path: String, free: UInt64, needed: UInt64)
  /// The file or its directory cannot be read or written, or the store was opened read-only.
  case notPermitted(path: String)
  /// Others than its owner may read or write these files of the store; never empty.
  case openToOthers(paths: [String])
  /// There is a symbolic link where the store keeps a file. None is followed.
  case link(path: String)
  /// The directory cannot be made or is open to others. The detail says what to do, where that is known.
  case unusableDirectory(path: String, detail: String)
  /// The anchor lies before what the store can still replay, or after its end: the reader must start over.
  case anchorOutOfRange
  /// The person of the record, or whether there is one, is not what it was when it was decided to write.
  case ownerChanged(path: String)
  /// What a consumer of the feed was about to note is not its next step any more.
  case consumerChanged(name: String)
  /// The file was deleted or moved away while it was in use, or another was put into its place. What was written into it since is lost.
  case gone(path: String)
  /// A backup is being put into the place of the store, so that nothing may be written.
  case beingReplaced(path: String)
  /// Another process has the store open, so that nothing may be put into its place.
  ///
  /// - Parameter by: `hpeer import (process 4711)`; `nil` where the process is not seen here.
  case inUse(path: String, by: String?)
  /// The task was cancelled before the store had done it.
  case cancelled
  /// Whatever else SQLite or GRDB says.
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
  /// Whether it is well again when there is room, whatever is done or not done meanwhile.
  public var isOutOfRoom: Bool {
    switch self {
    case .diskFull, .lowSpace: true
    default: false
    }
  }

  /// Maps what GRDB and SQLite throw.
  ///
  /// - Parameter isCancelled: whoever waited for a lock was cancelled, which SQLite does not tell from having waited
  ///   long enough.
  init(_ error: any Error, path: String, isCancelled: Bool) {
    let error = StoreError(error, path: path)
    if case .locked = error, isCancelled { self = .cancelled } else { self = error }
  }

  /// Maps what GRDB and SQLite throw.
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
    // All that is done to the file of shared memory is to make it larger.
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
