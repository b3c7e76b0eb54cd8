/// What a ``ServiceBrowser`` saw happen.
public enum BrowseEvent: Sendable, Hashable {
  /// A service was resolved, or one found before has a new address, port or TXT record.
  case found(DiscoveredService)
  /// A service found before is no longer announced, or does not answer any more.
  case lost(DiscoveredService.ID)
  /// Everything known to the network by now has been reported; sent once per connection to avahi-daemon.
  case allForNow
  /// More services were announced than are tracked (``ServiceBrowser/maximumServices``). Sent when the number of
  /// announcements passed over doubles, so that a flood of them is not a flood of events.
  case ignored(total: Int)
  /// avahi-daemon or D-Bus went away: what was found before is no longer tracked. The browser waits for it to return.
  case daemonGone(DiscoveryError)
  /// avahi-daemon is back; what is there is found anew.
  case daemonBack
}
