import GRDB
import Glibc
import OperatingSystem
import PeerProtocol

/// An error of the peer registry.
public enum PeerRegistryError: Error, Hashable, Sendable {
  /// A newer hpeer wrote the file. It was left untouched.
  case newerSchema(path: String)
  /// Other users may read the tokens in the file.
  case permissionsTooOpen(path: String)
  /// The file is not a database, or one of its rows is invalid.
  case damaged(path: String, reason: String)
  /// Another process held the file for more than five seconds.
  case busy(path: String)
  /// The disk that holds the registry is full.
  case diskFull(path: String)
  /// Any other error from SQLite or the file system.
  case failed(path: String, reason: String)
  /// No paired machine has the requested name or ID.
  case notFound(String)
  /// A name or the beginning of an ID matches several machines.
  case ambiguous(String, ids: [PeerID])
}

extension PeerRegistryError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .newerSchema(let path):
      "\(path) was written by a newer hpeer and was left untouched: install that version here too."
    case .permissionsTooOpen(let path):
      "\(path) holds tokens and is open to other users, so it is not used; run: chmod 600 \(ShellWord.quoted(path))"
    case .damaged(let path, let reason):
      "\(path) is damaged (\(reason)): restore it from a backup, or move it away and pair every machine again."
    case .busy(let path):
      "\(path) is in use by another hpeer: try again."
    case .diskFull(let path):
      "The disk that holds \(path) is full: make room."
    case .failed(let path, let reason):
      "\(path) cannot be used (\(reason)): check the disk and the permissions."
    case .notFound(let text):
      "No paired machine is called \(Self.quoted(text)): 'hpeer peers' lists them."
    case .ambiguous(let text, let ids):
      "\(Self.quoted(text)) fits several machines: name one by its ID: \(ids.map(\.hex).joined(separator: ", "))."
    }
  }

  /// Returns the text with characters replaced that could control a terminal: names come from peers.
  private static func quoted(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(80).map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: "\u{fffd}"
      default: String(scalar)
      }
    }
    return "'\(scalars.joined())'"
  }

  init(_ error: any Error, path: String) {
    switch error {
    case let error as PeerRegistryError: self = error
    case let error as SystemError where [ENOSPC, EDQUOT].contains(error.code): self = .diskFull(path: error.path)
    case let error as SystemError: self = .failed(path: error.path, reason: error.reason)
    case let error as DatabaseError:
      switch error.resultCode {
      case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy(path: path)
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged(path: path, reason: error.message ?? "not a database")
      // SQLite only ever enlarges the shared-memory file, so this error means that the disk is full.
      case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: self = .diskFull(path: path)
      case .SQLITE_FULL: self = .diskFull(path: path)
      default: self = .failed(path: path, reason: error.message ?? "SQLite error \(error.resultCode.rawValue)")
      }
    default: self = .failed(path: path, reason: "\(error)")
    }
  }
}
