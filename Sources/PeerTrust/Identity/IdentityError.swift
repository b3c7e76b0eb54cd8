/// Why this machine's identity could not be read or made. Nothing on disk was changed.
public enum IdentityError: Error, Hashable, Sendable {
  /// Some files of the identity are there and others are not.
  case incomplete(directory: String, missing: [String])
  /// Others may read the key, or write where it lies. `mode` is what should be given to chmod.
  case permissionsTooOpen(path: String, mode: String)
  case unreadable(path: String, reason: String)
  case malformed(path: String, reason: String)
  /// The certificate is not this key's.
  case keyMismatch(directory: String)
  case notWritable(path: String, reason: String)
  case openSSL(OpenSSLError)
}

extension IdentityError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .incomplete(let directory, let missing):
      "The identity in \(directory) lacks \(missing.joined(separator: " and ")): restore it from a backup, or move the "
        + "directory away to get a new identity (every paired machine must then pair again)."
    case .permissionsTooOpen(let path, let mode):
      "\(path) is open to other users, so it is not used; run: chmod \(mode) \(Self.quoted(path))"
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

  /// For a shell, so that the command can be copied whatever the path contains.
  private static func quoted(_ path: String) -> String {
    let isPlain = path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+".utf8.contains(byte)
      }
    }
    return isPlain
      ? path : "'\(path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
  }
}
