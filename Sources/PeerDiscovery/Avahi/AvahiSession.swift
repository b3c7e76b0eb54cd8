/// What is done with a connection to avahi-daemon: browsing or publishing.
///
/// Used on the thread of ``AvahiThread`` only. A thrown error ends the session for good; a connection that
/// ``AvahiConnection/giveUp(_:)`` was called on is made anew.
protocol AvahiSession: AnyObject {
  /// The daemon came, went, or finished choosing its host name. Called at least once for every connection.
  func daemonChanged(to state: AvahiDaemonState, on connection: AvahiConnection) throws(DiscoveryError)

  /// Something may have happened: Avahi called back, or ``AvahiThread/wake()`` was called.
  func step(on connection: AvahiConnection) throws(DiscoveryError)

  /// When ``step(on:)`` is to be called again even if nothing happens.
  var nextStep: ContinuousClock.Instant? { get }

  /// The connection is gone, and every C object that was made with it has been freed.
  func connectionBroke(_ reason: DiscoveryError) throws(DiscoveryError)
}

extension AvahiSession {
  var nextStep: ContinuousClock.Instant? { nil }
}

enum AvahiDaemonState {
  /// avahi-daemon is not on the D-Bus. The connection stays, and is notified when the daemon comes.
  case absent
  /// There, but without a host name of its own yet: can browse, cannot publish.
  case choosingHostName
  case running
}
