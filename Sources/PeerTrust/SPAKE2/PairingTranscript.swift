import PeerProtocol

/// What both sides of `hpeer-pair/1` feed into SPAKE2: the identities and the additional authenticated data.
///
/// `L(x)` is the length as two bytes, big-endian, and then the bytes.
struct PairingTranscript: Sendable {
  var serverID: PeerID
  /// Of the certificate in this TLS handshake: the server's own, and what the client saw. A man in the middle makes
  /// them differ.
  var serverFingerprint: Fingerprint
  var clientID: PeerID
  /// The client's certificate under mutual TLS; `nil` if it shows none.
  var clientFingerprint: Fingerprint?
  var clientName: String
  /// In the client's order, so that nobody can take the better ones off the list.
  var offeredVersions: [String]

  var identityA: [UInt8] {
    Array("\(PairingProtocol.version) client\0".utf8) + Self.prefixed(clientID.bytes)
      + Self.prefixed(clientFingerprint?.bytes ?? []) + Self.prefixed(Array(clientName.utf8))
  }

  /// The fingerprint stands here and not only in the additional data, because Ke depends on identities alone.
  var identityB: [UInt8] {
    Array("\(PairingProtocol.version) server\0".utf8) + Self.prefixed(serverID.bytes)
      + Self.prefixed(serverFingerprint.bytes)
  }

  func additionalData(session: [UInt8]) -> [UInt8] {
    Array("\(PairingProtocol.version)\0".utf8) + Self.prefixed(session)
      + Self.prefixed(Array(PairingProtocol.suite.utf8)) + Self.prefixed(Array(PairingProtocol.binding.utf8))
      + Self.prefixed(Array(offeredVersions.joined(separator: ",").utf8))
  }

  static func prefixed(_ bytes: [UInt8]) -> [UInt8] {
    // The longest part is the versions: eight times 32 bytes and the commas.
    [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
  }
}
