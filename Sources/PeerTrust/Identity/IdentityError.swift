import Cryptography
import OperatingSystem

/// An error that kept this machine's identity from being read or created. Nothing on disk was changed.
public enum IdentityError: Error, Hashable, Sendable {
  /// The identity to replace does not exist yet.
  case missing(path: String)
  /// Some files of the identity exist and others are missing.
  case incomplete(directory: String, missing: [String])
  /// Other users may read the key or write to its directory. `mode` is the mode to pass to chmod.
  case permissionsTooOpen(path: String, mode: String)
  /// The file exists and cannot be read.
  case unreadable(path: String, reason: String)
  /// The file was read, and its contents are invalid.
  case malformed(path: String, reason: String)
  /// The certificate and the key do not belong together.
  case keyMismatch(directory: String)
  /// A new identity was created and cannot be stored.
  case notWritable(path: String, reason: String)
  /// libcrypto could not make a key or a certificate.
  case openSSL(OpenSSLError)
}

extension IdentityError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let path):
      "This machine has no identity yet (\(path)): `hpeer serve` or `hpeer pair` makes one."
    case .incomplete(let directory, let missing):
      "The identity in \(directory) lacks \(missing.joined(separator: " and ")): restore it from a backup, or move the "
        + "directory away to get a new identity (every paired machine must then pair again)."
    case .permissionsTooOpen(let path, let mode):
      "\(path) is open to other users, so it is not used; run: chmod \(mode) \(ShellWord.quoted(path))"
    case .unreadable(let path, let reason):
      "\(path) cannot be read (\(reason)): make it readable for the user who runs hpeer."
    case .malformed(let path, let reason):
      "\(path) is damaged (\(reason)): restore it from a backup, or move its directory away to get a new identity "
        + "(every paired machine must then pair again)."
    case .keyMismatch(let directory):
      "certificate.pem and key.pem in \(directory) do not belong together: restore both from one backup."
    case .notWritable(let path, let reason):
      "The identity cannot be stored at \(path) (\(reason)): make the directory writable or choose another with --home."
    case .openSSL(let error):
      error.description
    }
  }
}

extension IdentityError {
  /// Translates an error that occurred while a secret of this machine was read or created.
  ///
  /// - Parameter path: the path being written, for errors that do not name one.
  init(_ error: any Error, writing path: String) {
    switch error {
    case let error as IdentityError: self = error
    case let error as SystemError: self = .notWritable(path: error.path, reason: error.reason)
    case let error as OpenSSLError: self = .openSSL(error)
    default: self = .notWritable(path: path, reason: "\(error)")
    }
  }
}
