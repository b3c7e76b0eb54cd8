import Foundation
import HealthModel
import OperatingSystem
import PeerServer
import PeerTrust

/// Where the certificate of an inbox comes from.
enum InboxCertificateSource {
  /// Bytes of a file with certificates or a key.
  private static let largestFile = 1 << 20

  /// Of the authority of this home: another when it ends soon, and when the machine is called or reached otherwise.
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

  /// Two files, read again when they change.
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

  /// Links are followed: Let's Encrypt's clients keep the newest behind one.
  ///
  /// - Parameter check: of the file that is read, which may be another by the next look at its path.
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

  /// Throws ``IdentityError/permissionsTooOpen(path:mode:)`` of a key that others can read or change. A group may read a
  /// key of root's, as Debian's `ssl-cert` does.
  private static func requirePrivate(_ status: stat, _ path: String) throws {
    let (forbidden, mode): (mode_t, String) = status.st_uid == 0 ? (0o037, "640") : (0o077, "600")
    guard status.st_mode & forbidden == 0 else { throw IdentityError.permissionsTooOpen(path: path, mode: mode) }
  }
}

extension InboxHostNames {
  /// What this machine is called, and where it is reached, now.
  public static var current: InboxHostNames {
    InboxHostNames(
      hostName: ProcessInfo.processInfo.hostName,
      addresses: LocalAddress.all().map { String($0.prefix { $0 != "%" }) })
  }
}
