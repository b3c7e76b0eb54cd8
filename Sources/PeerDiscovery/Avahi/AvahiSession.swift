/// The work done with a connection to avahi-daemon: browsing or publishing.
///
/// Used only on the thread of ``AvahiThread``. A thrown error ends the session; after ``AvahiConnection/giveUp(_:)``,
/// the connection is made again.
protocol AvahiSession: AnyObject {
  /// Handles a change of the daemon's state. Called at least once per connection.
  func daemonChanged(to state: AvahiDaemonState, on connection: AvahiConnection) throws(DiscoveryError)

  /// Takes a step after a possible event: an Avahi callback or a call of ``AvahiThread/wake()``.
  func step(on connection: AvahiConnection) throws(DiscoveryError)

  /// The time at which ``step(on:)`` must be called again even without an event.
  var nextStep: ContinuousClock.Instant? { get }

  /// Handles the loss of the connection. All C objects made with it have been freed.
  func connectionBroke(_ reason: DiscoveryError) throws(DiscoveryError)
}

extension AvahiSession {
  var nextStep: ContinuousClock.Instant? { nil }
}

enum AvahiDaemonState {
  /// avahi-daemon is not on D-Bus. The connection stays and is notified when the daemon starts.
  case absent
  /// The daemon runs but has no host name yet: it can browse but not publish.
  case choosingHostName
  case running
}
