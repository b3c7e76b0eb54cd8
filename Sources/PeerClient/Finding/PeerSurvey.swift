/// What was seen on the network in a while.
public struct PeerSurvey: Hashable, Sendable {
  /// In the order of appearance, this machine left out.
  public var peers: [DiscoveredPeer]
  /// Services that are not listed, by the address that announces too many of them.
  public var crowded: [String: Int]
  /// Services that are not listed because there are too many in all.
  public var ignored: Int
}
