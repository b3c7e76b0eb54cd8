import Cryptography

/// A party's side of a SPAKE2 run (RFC 9382 section 3.3) on P-256.
///
/// The secret scalar is for one run: create a new value for every run.
struct SPAKE2: Sendable {
  /// The role of a party. A uses M and speaks first; in hpeer, A is the client. B uses N.
  enum Role: Sendable {
    case a, b
  }

  let role: Role
  /// The public share, 65 bytes: pA = w·M + x·P, or pB = w·N + y·P.
  let share: [UInt8]

  private let w: Scalar
  private let secret: Scalar

  init(role: Role, w: Scalar) throws(P256Error) {
    try self.init(role: role, w: w, secret: .random())
  }

  /// Creates a side with a given x or y, for test vectors.
  init(role: Role, w: Scalar, secret: Scalar) throws(P256Error) {
    let curve = try P256.shared()
    let blind = try curve.multiply(curve.decode(role == .a ? P256.mBytes : P256.nBytes), by: w)
    share = try curve.encode(curve.add(blind, curve.multiplyBase(by: secret)))
    self.role = role
    self.w = w
    self.secret = secret
  }

  /// Returns the secret K = x·(pB − w·N) = y·(pA − w·M), 65 bytes.
  /// - Throws: `invalidShare` or `degenerate`.
  func sharedElement(peerShare: [UInt8]) throws(P256Error) -> SecretBytes {
    let curve = try P256.shared()
    let peer = try curve.decodeShare(peerShare)
    let blind = try curve.multiply(curve.decode(role == .a ? P256.nBytes : P256.mBytes), by: w)
    let unblinded = try curve.subtract(blind, from: peer)
    return try curve.encodeSecret(curve.multiply(unblinded, by: secret))
  }

  /// Runs the key schedule over the transcript of this run.
  /// - Throws: `invalidShare` or `degenerate`.
  func keys(
    peerShare: [UInt8], identityA: [UInt8], identityB: [UInt8], additionalData: [UInt8]
  ) throws(P256Error) -> SPAKE2Keys {
    let element = try sharedElement(peerShare: peerShare)
    let transcript = SPAKE2Keys.transcript(
      identityA: identityA, identityB: identityB, shareA: role == .a ? share : peerShare,
      shareB: role == .a ? peerShare : share, element: element, w: w)
    return try SPAKE2Keys(transcript: transcript, additionalData: additionalData)
  }
}
