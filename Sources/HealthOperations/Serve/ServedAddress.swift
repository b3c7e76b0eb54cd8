import Foundation
import OperatingSystem
import PeerProtocol
import PeerServer
import PeerTrust
import Synchronization

/// Where others reach a server, once it listens.
final class ServedAddress: Sendable {
  private let host: String?
  private let fingerprint: Fingerprint
  private let port = Mutex(0)

  /// - Parameter host: the address that it is bound to; `nil` for all.
  init(host: String?, fingerprint: Fingerprint) {
    self.host = host
    self.fingerprint = fingerprint
  }

  func listens(on port: Int) { self.port.withLock { $0 = port } }

  var addresses: [String] {
    if let host, host != "0.0.0.0", host != "::" { return [host] }
    return LocalAddress.all()
  }

  /// What another machine needs to pair.
  func payload(_ code: PairingCode, _ expiry: Date) throws -> PairingPayload {
    try PairingPayload(
      host: addresses.first ?? "\(Hostname.short).local", port: UInt16(clamping: port.withLock { $0 }),
      fingerprint: fingerprint, code: code, expiry: expiry)
  }
}
