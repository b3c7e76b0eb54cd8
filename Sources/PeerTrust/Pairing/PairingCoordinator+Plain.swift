import Cryptography
import Foundation
import HealthModel
import PeerProtocol

/// HealthAppTransfer's pairing, in which the client sends the code itself.
extension PairingCoordinator {
  /// Answers `POST /api/v1/pair`, for clients of other apps that pinned the certificate from a QR code.
  ///
  /// It uses the same code and the same budget as `hpeer-pair/1`; any text other than the code counts as a failed
  /// attempt.
  ///
  /// - Parameters:
  ///   - code: the code as the client sent it.
  ///   - deviceName: untrusted text of any length, or nil.
  ///   - caller: the address group of the caller, as reported to the owner.
  public func plainPair(
    code: String, deviceName: String?, from caller: String
  ) async throws(PairRejection) -> PlainPairing {
    let window = try requireWindow()
    guard settlement == nil else { throw .temporary }
    try makeRoom(for: caller)
    let isRight = ConstantTime.equal(Array(code.utf8), Array(window.secret.code.digits.utf8))
    guard isRight else { throw await fail(.wrongCode) }

    let now = clock()
    let token = BearerToken.random()
    let client = PairedClient(
      id: .ofClient(showing: nil), name: PairingProtocol.trimmedName((deviceName ?? "").shortened(toBytes: 1_024)),
      tokenHash: token.hash, certificateFingerprint: nil, method: .plain, pairedAt: now,
      expiresAt: tokenExpiry(from: now), tokenLifetime: limits.tokenLifetime, scope: window.scope)
    let task = Task { () -> Bool in
      let isStored = await self.store(client)
      self.settlement = nil
      if isStored { self.conclude(client, window: window.number) }
      return isStored
    }
    settlement = Settlement(session: nil, cA: [], task: nil)
    // The task is not a child of the request's, so a client that disconnects cannot interrupt the pairing half-way.
    guard await task.value else { throw .temporary }
    return PlainPairing(clientID: client.id, token: token, expiresAt: client.expiresAt)
  }
}
