import Foundation
import OperatingSystem
import PeerProtocol

/// What a QR code says, in whichever dialect: where a server is, which certificate it has, and the code.
///
/// The code in it is a secret as long as it is valid.
public struct PairingInvitation: Sendable {
  /// Where the server is; `nil` where the code does not say it in a way that can be used, so that it must be looked for.
  public var endpoint: PeerEndpoint?
  /// Where the server is if it is on this machine: what a code says that is of a server for this machine alone, or of an app
  /// that knew no address.
  public var loopback: PeerEndpoint?
  /// What is pinned before anything is sent.
  public var fingerprint: Fingerprint
  /// The code, as the dialect has it.
  public var code: String
  /// When the code is over by the clock that made it; `nil` where it does not say.
  public var expiry: Date?

  /// - Parameters:
  ///   - host: a numeric address or a name; a loopback one is none that could be used.
  ///   - port: `nil` where the code is typed and says nothing.
  public init(host: String?, port: UInt16?, fingerprint: Fingerprint, code: String, expiry: Date?) {
    if let host, let port, port > 0 {
      let named = PeerEndpoint(host: host, port: Int(port))
      if Self.isLoopback(host) { loopback = named } else { endpoint = named }
    }
    (self.fingerprint, self.code, self.expiry) = (fingerprint, code, expiry)
  }

  /// What an app puts there when it knows no address of its own.
  private static func isLoopback(_ host: String) -> Bool {
    if let address = IPv4Address(host) { return address.bytes[0] == 127 || address.value == 0 }
    return ["localhost", "::1", "::", "::ffff:127.0.0.1"].contains(host.lowercased())
  }

  /// For how long the apps' codes are valid, in seconds.
  private static let lifetime = 300.0

  /// By how many seconds this machine's clock is ahead of the one that made the code, at least; negative where it is
  /// behind, 0 where the code does not tell. Said where that may be why a code is refused, or was taken though it looked old.
  public func clockLead(now: Date = Date()) -> Double {
    guard let left = expiry?.timeIntervalSince(now) else { return 0 }
    return left < 0 ? -left : min(0, Self.lifetime - left)
  }
}
