import Cryptography
import Foundation
import OperatingSystem
import PeerProtocol

/// The certificate authority of one machine's inbox, which a phone trusts once its owner has installed its profile.
///
/// Its certificate has name constraints for this machine's names and addresses (RFC 5280 section 4.2.1.10), so its
/// key cannot impersonate any other host. It is kept in `inbox/` of the home, each file 0600, and signs certificates
/// for 90 days.
public struct InboxAuthority: Sendable {
  static let directoryName = "inbox"
  private static let certificateName = "authority.pem"
  private static let keyName = "authority-key.pem"
  private static let namesName = "names.json"
  /// The validity of the authority's certificate, in days. Long, because the profile must be installed again
  /// afterwards.
  private static let validityInDays: Int32 = 3653
  /// The validity of the certificates it signs, in days. Apple accepts at most 825.
  public static let leafDays = 90
  /// The number of days before its end at which a certificate is replaced.
  public static let renewalDays = 30

  /// The names and addresses that the authority may sign for.
  public let names: InboxHostNames
  /// The self-signed certificate in PEM (RFC 7468).
  public let certificatePEM: String
  private let keyPEM: String
  /// The certificate in DER, as a profile contains it.
  public let certificateDER: [UInt8]
  /// The SHA-256 of ``certificateDER``, with which a person can verify the certificate.
  public let fingerprint: Fingerprint

  /// A certificate for the inbox, with its key.
  public struct Leaf: Sendable {
    /// The certificate, followed by the authority's.
    public let chainPEM: String
    /// The private key in PKCS #8, unencrypted: a secret.
    public let keyPEM: String
    /// The date at which the certificate should be replaced.
    public let renewal: Date
    /// The names and addresses in the certificate.
    public let names: InboxHostNames
  }

  private init(names: InboxHostNames, certificate: Certificate, key: PrivateKey) throws(OpenSSLError) {
    self.names = names
    certificatePEM = try certificate.pem()
    keyPEM = try key.pem()
    certificateDER = try certificate.der()
    fingerprint = Fingerprint(certificateDER: certificateDER)
  }

  /// Creates a new authority without storing it.
  init(for names: InboxHostNames) throws(OpenSSLError) {
    let key = try PrivateKey.generateP256()
    let certificate = try Certificate()
    try certificate.setRandomSerialNumber()
    try certificate.setValidity(days: Self.validityInDays)
    // The name that a phone lists: at most 64 characters.
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

  /// Issues a certificate for the names and addresses in `current` that this authority may sign for.
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

  /// Reads the authority of a home, or creates one for these names. Any number of processes may call this at once;
  /// all get the same authority. Blocking.
  ///
  /// - Parameters:
  ///   - directory: the home.
  ///   - replaces: whether to create a new authority even if there is one; phones must then install its profile.
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

  /// Returns whether a home has an authority.
  public static func exists(in directory: URL) -> Bool {
    PrivateFile.exists("\(directory.path)/\(directoryName)/\(namesName)")
  }

  /// Reads the authority; `nil` if there is none.
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
    // Written last, so that its presence means that all files exist.
    try PrivateFile.replace("\(path)/\(Self.namesName)", Array(try encoder.encode(names)))
  }
}

extension InboxAuthority: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "InboxAuthority(\(fingerprint.hex))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
}
