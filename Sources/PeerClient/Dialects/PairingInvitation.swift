import Foundation
import OperatingSystem
import PeerProtocol

/// The content of a QR code in any dialect: the server's address, its certificate's fingerprint, and the code.
///
/// The code is a secret while it is valid.
public struct PairingInvitation: Sendable {
  /// The server's endpoint, or `nil` if the QR code contains no usable one, so that the server must be discovered.
  public var endpoint: PeerEndpoint?
  /// The endpoint if it is a loopback address, from a server for this machine alone or an app that knew no address.
  public var loopback: PeerEndpoint?
  /// The fingerprint that is pinned before any data is sent.
  public var fingerprint: Fingerprint
  /// The code in the dialect's form.
  public var code: String
  /// The expiry of the code by the clock of the machine that made it, or `nil` if unknown.
  public var expiry: Date?

  /// - Parameters:
  ///   - host: a numeric address or a name; a loopback address only sets ``loopback``.
  ///   - port: the port, or `nil` for a typed code, which contains none.
  public init(host: String?, port: UInt16?, fingerprint: Fingerprint, code: String, expiry: Date?) {
    if let host, let port, port > 0 {
      let named = PeerEndpoint(host: host, port: Int(port))
      if Self.isLoopback(host) { loopback = named } else { endpoint = named }
    }
    (self.fingerprint, self.code, self.expiry) = (fingerprint, code, expiry)
  }

  /// Returns whether a host is a loopback or unspecified address, which an app uses if it knows no address of its
  /// own.
  private static func isLoopback(_ host: String) -> Bool {
    if let address = IPv4Address(host) { return address.bytes[0] == 127 || address.value == 0 }
    return ["localhost", "::1", "::", "::ffff:127.0.0.1"].contains(host.lowercased())
  }

  /// The lifetime of the apps' codes in seconds.
  private static let lifetime = 300.0

  /// Returns the minimum number of seconds by which this machine's clock is ahead of the clock that made the code. It
  /// is negative if this machine's clock is behind, and 0 if the code does not tell. Report it if it may explain a
  /// refused code, or an accepted code that looked expired.
  public func clockLead(now: Date = Date()) -> Double {
    guard let left = expiry?.timeIntervalSince(now) else { return 0 }
    return left < 0 ? -left : min(0, Self.lifetime - left)
  }
}
