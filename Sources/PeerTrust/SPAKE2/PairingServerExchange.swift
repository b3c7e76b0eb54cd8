import Cryptography
import Foundation
import PeerProtocol

/// The server's side of one session of `hpeer-pair/1`.
///
/// Everything is computed at the start, so that neither y nor K outlives the initializer. Nothing derived from K may
/// leave the server before ``verify(_:)`` has returned true.
struct PairingServerExchange: Sendable {
  let session: [UInt8]
  let transcript: PairingTranscript
  let pB: [UInt8]

  private let keys: SPAKE2Keys
  private let secrets: PairingSecrets

  /// Creates the exchange and derives its keys.
  /// - Throws: `invalidShare` or `degenerate`, both of which count as a wrong code.
  init(
    transcript: PairingTranscript, session: [UInt8], pA: [UInt8], w: Scalar, y: Scalar
  ) throws(P256Error) {
    let spake = try SPAKE2(role: .b, w: w, secret: y)
    let additionalData = transcript.additionalData(session: session)
    keys = try spake.keys(
      peerShare: pA, identityA: transcript.identityA, identityB: transcript.identityB, additionalData: additionalData)
    secrets = PairingSecrets(keys: keys, additionalData: additionalData)
    pB = spake.share
    self.session = session
    self.transcript = transcript
  }

  /// Returns whether the client's proof is correct, in constant time.
  func verify(_ cA: [UInt8]) -> Bool { ConstantTime.equal(cA, keys.cA) }

  /// The hash of the token, which the server keeps. Use it only after ``verify(_:)``.
  var tokenHash: TokenHash { secrets.token.hash }

  /// Returns the answer to a correct proof. Call it only after ``verify(_:)``.
  func response(expiresAt: Date) throws(PairMessageError) -> PairFinishResponse {
    try PairFinishResponse(
      cB: keys.cB, tokenID: tokenHash.tokenID, expiresAt: expiresAt,
      receipt: secrets.receipt(session: session, expiresAt: expiresAt))
  }
}
