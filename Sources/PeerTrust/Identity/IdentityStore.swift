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

/// Keeps a machine's identity on disk: `identity/certificate.pem`, `identity/key.pem` and `identity/id`, each 0600 in a
/// directory 0700. Where a certificate has been replaced, `identity/rotation` holds what the last one said of it.
///
/// The files appear together: they are written in a directory beside it, which is then renamed. What is there is
/// never replaced, whatever is wrong with it, because every paired machine has pinned it.
public enum IdentityStore {
  static let directoryName = "identity"
  static let certificateName = "certificate.pem"
  static let keyName = "key.pem"
  static let idName = "id"
  static let rotationName = "rotation"

  /// Reads the identity, or makes one if there is none. Any number of processes may call this at once; all get the
  /// same.
  ///
  /// Blocks for file input and output; in an async function the async overload is chosen instead.
  /// - Parameter directory: the parent of `identity`; made (0700) if it is missing.
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

  /// Runs `body` while no other process makes or replaces the identity in `parent`.
  static func locked(_ parent: String, _ body: () throws -> PeerIdentity) throws(IdentityError) -> PeerIdentity {
    do {
      try PrivateFile.makeDirectory(parent)
      return try FileLock.withLock("\(parent)/.identity.lock", body)
    } catch {
      throw IdentityError(error, writing: parent)
    }
  }

  /// Reads the identity, or makes one if there is none, without blocking the caller's thread.
  public static func loadOrCreate(in directory: URL) async throws(IdentityError) -> PeerIdentity {
    try await onThread { (_) throws(IdentityError) -> PeerIdentity in
      try IdentityStore.loadOrCreate(in: directory)
    }
  }

  /// Reads the identity and makes nothing: nil if there is none yet. Does not block the caller's thread.
  public static func existing(in directory: URL) async throws(IdentityError) -> PeerIdentity? {
    try await onThread { (_) throws(IdentityError) -> PeerIdentity? in
      try load("\(directory.path)/\(directoryName)")
    }
  }

  /// Nil if there is no identity: no directory, or an empty one.
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
    // Who may write into the directory may exchange the key.
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

  /// Nil if there is none, or none that can be read: whoever knows the old certificate must then be paired with again.
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
    // Fails if something else has appeared at the path and is not empty, so nothing is overwritten.
    guard rename(draft, path) == 0 else { throw SystemError("rename", path) }
    try PrivateFile.synchronizeParent(of: path)
    return identity
  }

  /// A new identity in a directory of its own. Runs under the lock, so the directory's name can be fixed, and one that is
  /// there is a crash's.
  ///
  /// - Parameter old: whose key says that the new certificate takes its certificate's place.
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
