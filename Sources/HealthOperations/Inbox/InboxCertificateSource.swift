import Foundation
import HealthModel
import OperatingSystem
import PeerServer
import PeerTrust

/// The sources of an inbox's certificate.
enum InboxCertificateSource {
  /// The maximum size of a certificate or key file, in bytes.
  private static let largestFile = 1 << 20

  /// Returns a source that issues certificates with the authority of a home: a new one before the old expires, and
  /// when the machine's names or addresses change.
  static func authority(of home: Home) -> InboxCertificates.Source {
    let directory = home.url
    return { version in
      try await onThread { _ in
        let current = InboxHostNames.current
        let authority = try InboxAuthority.loadOrCreate(in: directory, for: current)
        let mark = "\(authority.fingerprint.hex) \(current)"
        if let version, let end = version.split(separator: "|").first.flatMap({ Double($0) }),
          version.hasSuffix("|" + mark), Date().timeIntervalSince1970 < end
        {
          return nil
        }
        let leaf = try authority.issue(for: current)
        return InboxCertificates.Material(
          chain: Array(leaf.chainPEM.utf8), key: Array(leaf.keyPEM.utf8),
          version: "\(leaf.renewal.timeIntervalSince1970)|\(mark)")
      }
    }
  }

  /// Returns a source that reads two files, again whenever they change.
  static func files(certificate: String, key: String) -> InboxCertificates.Source {
    { version in
      try await onThread { _ in
        let current = "\(try mark(of: certificate)) \(try mark(of: key))"
        if current == version { return nil }
        return InboxCertificates.Material(
          chain: try read(certificate), key: try read(key, check: requirePrivate), version: current)
      }
    }
  }

  private static func mark(of path: String) throws -> String {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SystemError("stat", path) }
    return "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
  }

  /// Reads a file. Symbolic links are followed, because Let's Encrypt clients keep the newest certificate behind one.
  ///
  /// - Parameter check: checks the opened file, because the path may lead to another file later.
  private static func read(
    _ path: String, check: (_ status: stat, _ path: String) throws -> Void = { _, _ in }
  ) throws -> [UInt8] {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    var status = stat()
    guard fstat(file.fileDescriptor, &status) == 0 else { throw SystemError("fstat", path) }
    try check(status, path)
    return Array(try file.read(upToCount: largestFile) ?? Data())
  }

  /// Throws ``IdentityError/permissionsTooOpen(path:mode:)`` if others can read or change the key. A group may read a
  /// key owned by root, as with Debian's `ssl-cert`.
  private static func requirePrivate(_ status: stat, _ path: String) throws {
    let (forbidden, mode): (mode_t, String) = status.st_uid == 0 ? (0o037, "640") : (0o077, "600")
    guard status.st_mode & forbidden == 0 else { throw IdentityError.permissionsTooOpen(path: path, mode: mode) }
  }
}

extension InboxHostNames {
  /// The current names and addresses of this machine.
  public static var current: InboxHostNames {
    InboxHostNames(
      hostName: ProcessInfo.processInfo.hostName,
      addresses: LocalAddress.all().map { String($0.prefix { $0 != "%" }) })
  }
}
