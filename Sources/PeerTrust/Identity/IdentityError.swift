import Cryptography
import OperatingSystem

/// Why this machine's identity could not be read or made. Nothing on disk was changed.
public enum IdentityError: Error, Hashable, Sendable {
  /// There is nothing to replace yet.
  case missing(path: String)
  /// Some files of the identity are there and others are not.
  case incomplete(directory: String, missing: [String])
  /// Others may read the key, or write where it lies. `mode` is what should be given to chmod.
  case permissionsTooOpen(path: String, mode: String)
  /// The file is there and cannot be read.
  case unreadable(path: String, reason: String)
  /// The file was read and is not what it should be.
  case malformed(path: String, reason: String)
  /// The certificate is not this key's.
  case keyMismatch(directory: String)
  /// A new identity was made and cannot be stored.
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
  /// What failed while something secret of this machine was read or made.
  ///
  /// - Parameter path: where it was to be written, for an error that does not say.
  init(_ error: any Error, writing path: String) {
    switch error {
    case let error as IdentityError: self = error
    case let error as SystemError: self = .notWritable(path: error.path, reason: error.reason)
    case let error as OpenSSLError: self = .openSSL(error)
    default: self = .notWritable(path: path, reason: "\(error)")
    }
  }
}
