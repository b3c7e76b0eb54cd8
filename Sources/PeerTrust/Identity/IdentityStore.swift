import Cryptography
import Foundation
import OperatingSystem
import PeerProtocol

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files of a machine's identity: `identity/certificate.pem`, `identity/key.pem` and `identity/id`, each 0600 in
/// a directory 0700. If the certificate has been replaced, `identity/rotation` holds the statement of the previous
/// one.
///
/// The files appear together: they are written in a temporary directory, which is then renamed. ``loadOrCreate(in:)``
/// never replaces existing files, even damaged ones, because every paired machine has pinned the certificate.
public enum IdentityStore {
  static let directoryName = "identity"
  static let certificateName = "certificate.pem"
  static let keyName = "key.pem"
  static let idName = "id"
  static let rotationName = "rotation"

  /// Reads the identity, or creates it if there is none. Any number of processes may call this at once; all get the
  /// same identity.
  ///
  /// Blocks for file input and output; in an async function the async overload is chosen instead.
  /// - Parameter directory: the parent of `identity`; created (0700) if it is missing.
  public static func loadOrCreate(in directory: URL) throws(IdentityError) -> PeerIdentity {
    let parent = directory.path
    let path = "\(parent)/\(directoryName)"
    do { try PrivateFile.makeDirectory(parent) } catch { throw .notWritable(path: error.path, reason: error.reason) }
    if let identity = try load(path) { return identity }
    return try locked(parent) {
      if let identity = try load(path) { return identity }
      return try create(path)
    }
  }

  /// Runs `body` while no other process creates or replaces the identity in `parent`.
  static func locked(_ parent: String, _ body: () throws -> PeerIdentity) throws(IdentityError) -> PeerIdentity {
    do {
      try PrivateFile.makeDirectory(parent)
      return try FileLock.withLock("\(parent)/.identity.lock", body)
    } catch {
      throw IdentityError(error, writing: parent)
    }
  }

  /// Reads the identity, or creates it if there is none, without blocking the caller's thread.
  public static func loadOrCreate(in directory: URL) async throws(IdentityError) -> PeerIdentity {
    try await onThread { (_) throws(IdentityError) -> PeerIdentity in
      try IdentityStore.loadOrCreate(in: directory)
    }
  }

  /// Reads the identity, or returns nil if there is none yet. Creates nothing and does not block the caller's thread.
  public static func existing(in directory: URL) async throws(IdentityError) -> PeerIdentity? {
    try await onThread { (_) throws(IdentityError) -> PeerIdentity? in
      try load("\(directory.path)/\(directoryName)")
    }
  }

  /// Reads the identity in a directory. Returns nil if there is none: no directory, or an empty one.
  static func load(_ path: String) throws(IdentityError) -> PeerIdentity? {
    if PrivateFile.isLink(path) {
      throw .unreadable(path: path, reason: SystemError("open", path, code: ELOOP).reason)
    }
    guard let mode = PrivateFile.mode(path) else {
      if errno == ENOENT { return nil }
      throw .unreadable(path: path, reason: SystemError("stat", path).reason)
    }
    let names = [certificateName, keyName, idName]
    let missing = names.filter { !PrivateFile.exists("\(path)/\($0)") && errno == ENOENT }
    if missing.count == names.count { return nil }
    guard missing.isEmpty else { throw .incomplete(directory: path, missing: missing) }
    // Write permission on the directory would be enough to replace the key.
    guard mode & 0o022 == 0 else { throw .permissionsTooOpen(path: path, mode: "700") }
    let key = try read("\(path)/\(keyName)", isSecret: true)
    let certificate = try read("\(path)/\(certificateName)")
    let idText = try read("\(path)/\(idName)")
    guard let id = PeerID(hex: idText.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw .malformed(path: "\(path)/\(idName)", reason: "not 32 hexadecimal digits")
    }
    do {
      return try PeerIdentity(id: id, certificatePEM: certificate, privateKeyPEM: key, rotation: rotation(path))
    } catch {
      switch error {
      case .certificate(let reason): throw .malformed(path: "\(path)/\(certificateName)", reason: reason)
      case .key(let reason): throw .malformed(path: "\(path)/\(keyName)", reason: reason)
      case .mismatch: throw .keyMismatch(directory: path)
      }
    }
  }

  /// Returns the stored rotation statement, or nil if it is missing or unreadable: peers that know the old
  /// certificate must then pair again.
  private static func rotation(_ path: String) -> RotationStatement? {
    guard let text = try? read("\(path)/\(rotationName)") else { return nil }
    return RotationStatement(text: text.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  private static func read(_ path: String, isSecret: Bool = false) throws(IdentityError) -> String {
    let file: (bytes: [UInt8], mode: UInt32)
    do { file = try PrivateFile.read(path) } catch { throw .unreadable(path: path, reason: error.reason) }
    guard !isSecret || file.mode & 0o077 == 0 else { throw .permissionsTooOpen(path: path, mode: "600") }
    guard let text = String(validating: file.bytes, as: UTF8.self) else {
      throw .malformed(path: path, reason: "not text")
    }
    return text
  }

  private static func create(_ path: String) throws -> PeerIdentity {
    let (identity, draft) = try draft(of: SecureRandom.peerID(), beside: path)
    // Fails if anything non-empty has appeared at the path, so nothing is overwritten.
    guard rename(draft, path) == 0 else { throw SystemError("rename", path) }
    try PrivateFile.synchronizeParent(of: path)
    return identity
  }

  /// Creates a new identity in a temporary directory. Runs under the lock, so the directory has a fixed name; an
  /// existing one is left over from a crash and is deleted.
  ///
  /// - Parameter old: the identity to replace; its key signs the new certificate.
  static func draft(
    of id: PeerID, replacing old: PeerIdentity? = nil, beside path: String
  ) throws -> (PeerIdentity, directory: String) {
    let key = try PrivateKey.generateP256()
    let certificate = try SelfSignedCertificate.make(for: id, key: key)
    let fingerprint = Fingerprint(certificateDER: try certificate.der())
    let identity = try PeerIdentity(
      id: id, certificatePEM: certificate.pem(), privateKeyPEM: key.pem(),
      rotation: old.map { try RotationStatement(replacing: $0, by: fingerprint) })
    let draft = "\(path).new"
    discard(draft)
    guard mkdir(draft, 0o700) == 0, chmod(draft, 0o700) == 0 else { throw SystemError("mkdir", draft) }
    try PrivateFile.create("\(draft)/\(keyName)", Array(identity.privateKeyPEM.utf8))
    try PrivateFile.create("\(draft)/\(certificateName)", Array(identity.certificatePEM.utf8))
    try PrivateFile.create("\(draft)/\(idName)", Array("\(id.hex)\n".utf8))
    if let rotation = identity.rotation {
      try PrivateFile.create("\(draft)/\(rotationName)", Array("\(rotation.text)\n".utf8))
    }
    try PrivateFile.synchronizeParent(of: "\(draft)/\(idName)")
    return (identity, draft)
  }

  static func discard(_ draft: String) {
    PrivateFile.discard(draft, [certificateName, keyName, idName, rotationName])
  }
}
