/// What became of an advertisement.
public enum AdvertisingEvent: Sendable, Hashable {
  /// Others can see it, under this name. Sent again after avahi-daemon came back.
  case published(name: String)
  /// Another service on the network has the name already; this one is tried next.
  case renamed(from: String, to: String)
  /// Nobody can see it at the moment. Sent once for each time; ``published(name:)`` follows when it is over.
  case daemonUnavailable(DiscoveryError)
}
