import Cryptography
import Foundation
import OperatingSystem
import PeerProtocol

/// The certificate authority of one machine's inbox, which a phone trusts once its owner has installed its profile.
///
/// Its certificate constrains it to this machine's names and addresses (RFC 5280 section 4.2.1.10): with its key nobody can pose
/// as anything else. It is kept in `inbox/` of the home, each file 0600, and signs certificates of ninety days.
public struct InboxAuthority: Sendable {
  static let directoryName = "inbox"
  private static let certificateName = "authority.pem"
  private static let keyName = "authority-key.pem"
  private static let namesName = "names.json"
  /// Of the authority; installing its profile again is a chore.
  private static let validityInDays: Int32 = 3653
  /// Of what it signs; Apple takes 825 at most.
  public static let leafDays = 90
  /// Days before its end at which a certificate is replaced.
  public static let renewalDays = 30

  /// What it may sign for.
  public let names: InboxHostNames
  /// Self-signed (RFC 7468).
  public let certificatePEM: String
  private let keyPEM: String
  /// The same in DER, as a profile has it.
  public let certificateDER: [UInt8]
  /// The SHA-256 of ``certificateDER``, by which a person can tell it.
  public let fingerprint: Fingerprint

  /// A certificate for the inbox, with its key.
  public struct Leaf: Sendable {
    /// The certificate, and after it the authority's.
    public let chainPEM: String
    /// PKCS #8, unencrypted: a secret.
    public let keyPEM: String
    /// When it should be replaced.
    public let renewal: Date
    /// What it is good for.
    public let names: InboxHostNames
  }

  private init(names: InboxHostNames, certificate: Certificate, key: PrivateKey) throws(OpenSSLError) {
    self.names = names
    certificatePEM = try certificate.pem()
    keyPEM = try key.pem()
    certificateDER = try certificate.der()
    fingerprint = Fingerprint(certificateDER: certificateDER)
  }

  /// A new one, which is kept nowhere.
  init(for names: InboxHostNames) throws(OpenSSLError) {
    let key = try PrivateKey.generateP256()
    let certificate = try Certificate()
    try certificate.setRandomSerialNumber()
    try certificate.setValidity(days: Self.validityInDays)
    // What a phone lists: at most 64 characters.
    try certificate.setName("hpeer inbox \((names.names.first { $0.hasSuffix(".local") } ?? "").prefix(50))")
    try certificate.setKey(key)
    for (kind, value): (CertificateExtension, String) in [
      (.basicConstraints, "critical,CA:TRUE,pathlen:0"), (.keyUsage, "critical,keyCertSign"),
      (.extendedKeyUsage, "serverAuth"), (.nameConstraints, names.constraints),
      (.subjectKeyIdentifier, "hash"),
    ] {
      try certificate.addExtension(kind, value)
    }
    try certificate.sign(with: key)
    try self.init(names: names, certificate: certificate, key: key)
  }

  /// A certificate for those of `current` that this authority may sign for.
  public func issue(for current: InboxHostNames, now: Date = Date()) throws(OpenSSLError) -> Leaf {
    let names = current.intersection(names)
    let authority = try Certificate(pem: certificatePEM)
    let authorityKey = try PrivateKey(pem: keyPEM)
    let key = try PrivateKey.generateP256()
    let certificate = try Certificate()
    try certificate.setRandomSerialNumber()
    try certificate.setValidity(days: Int32(Self.leafDays))
    try certificate.setName("hpeer inbox", issuer: authority)
    try certificate.setKey(key)
    for (kind, value): (CertificateExtension, String) in [
      (.basicConstraints, "critical,CA:FALSE"), (.keyUsage, "critical,digitalSignature"),
      (.extendedKeyUsage, "serverAuth"), (.subjectAlternativeName, names.alternativeNames),
      (.subjectKeyIdentifier, "hash"), (.authorityKeyIdentifier, "keyid"),
    ] {
      try certificate.addExtension(kind, value, issuer: authority)
    }
    try certificate.sign(with: authorityKey)
    return Leaf(
      chainPEM: try certificate.pem() + certificatePEM, keyPEM: try key.pem(),
      renewal: now + TimeInterval(Self.leafDays - Self.renewalDays) * 86_400, names: names)
  }

  // MARK: Files

  /// Reads the authority of a home, or makes one for these names. Any number of processes may call this at once; all get the same.
  /// Blocking.
  ///
  /// - Parameters:
  ///   - directory: the home.
  ///   - replaces: makes a new one in any case: phones must install that.
  public static func loadOrCreate(
    in directory: URL, for names: InboxHostNames, replaces: Bool = false
  ) throws(IdentityError) -> InboxAuthority {
    let path = "\(directory.path)/\(directoryName)"
    do {
      try PrivateFile.makeDirectory(directory.path)
      return try FileLock.withLock("\(directory.path)/.inbox.lock") {
        if !replaces, let authority = try load(path) { return authority }
        let authority = try InboxAuthority(for: names)
        try authority.write(path)
        return authority
      }
    } catch {
      throw IdentityError(error, writing: path)
    }
  }

  /// Whether a home has one.
  public static func exists(in directory: URL) -> Bool {
    PrivateFile.exists("\(directory.path)/\(directoryName)/\(namesName)")
  }

  /// `nil` if there is none.
  private static func load(_ path: String) throws -> InboxAuthority? {
    let files = ["\(path)/\(namesName)", "\(path)/\(certificateName)", "\(path)/\(keyName)"]
    guard PrivateFile.exists(files[0]) else { return nil }
    let read = try files.map { try PrivateFile.read($0) }
    guard read[2].mode & 0o077 == 0 else { throw IdentityError.permissionsTooOpen(path: files[2], mode: "600") }
    guard let names = try? JSONDecoder().decode(InboxHostNames.self, from: Data(read[0].bytes)), names.isValid else {
      throw IdentityError.malformed(path: files[0], reason: "no names of a host")
    }
    do {
      let certificate = try Certificate(pem: String(decoding: read[1].bytes, as: UTF8.self))
      let key = try PrivateKey(pem: String(decoding: read[2].bytes, as: UTF8.self))
      guard certificate.matches(key) else { throw IdentityError.keyMismatch(directory: path) }
      return try InboxAuthority(names: names, certificate: certificate, key: key)
    } catch let error as OpenSSLError {
      throw IdentityError.malformed(path: files[1], reason: error.reason)
    }
  }

  private func write(_ path: String) throws {
    try PrivateFile.makeDirectory(path)
    try PrivateFile.replace("\(path)/\(Self.keyName)", Array(keyPEM.utf8))
    try PrivateFile.replace("\(path)/\(Self.certificateName)", Array(certificatePEM.utf8))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    // Last: where it is, everything is there.
    try PrivateFile.replace("\(path)/\(Self.namesName)", Array(try encoder.encode(names)))
  }
}

extension InboxAuthority: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "InboxAuthority(\(fingerprint.hex))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
}
