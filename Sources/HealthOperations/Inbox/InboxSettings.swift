import PeerServer

/// How an inbox is reached.
public struct InboxSettings: Hashable, Sendable {
  /// What phones trust.
  public enum Security: Hashable, Sendable {
    /// A certificate of an authority made for this machine, whose profile the phone installs.
    case ownAuthority
    /// Files in PEM that something else keeps fresh: a certificate with those after it, and its key.
    case files(certificate: String, key: String)
    /// HTTP on loopback, behind a reverse proxy on this machine.
    case proxied
    /// HTTP for everyone on the network, who can then read secrets and samples.
    case insecure
  }

  /// The address to bind; `nil` for all.
  public var host: String?
  /// 0 for any that is free.
  public var port = InboxServer.defaultPort
  /// What phones trust.
  public var security = Security.ownAuthority

  /// All addresses, the usual port, and a certificate of this machine's own authority.
  public init() {}
}
