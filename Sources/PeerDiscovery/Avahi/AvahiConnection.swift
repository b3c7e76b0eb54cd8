import CAvahi

/// A connection to avahi-daemon: one `AvahiClient` from creation to end. Belongs to one thread.
final class AvahiConnection {
  /// The longest plausible answer time of a working daemon; shorter than libdbus's own timeout of 25 s.
  private static let patience = Duration.seconds(15)

  private let loop: AvahiLoop
  private let session: any AvahiSession
  private var pointer: OpaquePointer?
  private var stateChanged = false
  private var failure: DiscoveryError?

  init(loop: AvahiLoop, session: any AvahiSession) {
    self.loop = loop
    self.session = session
  }

  /// The client for Avahi's functions. Non-`nil` only within ``serve(while:)``.
  var client: OpaquePointer? { pointer }

  /// The error of the last failed call.
  var lastError: DiscoveryError { Self.error(pointer.map(avahi_client_errno) ?? AVAHI_ERR_BAD_STATE.asCode) }

  /// Marks the connection as failed, so that it is closed and made again.
  func giveUp(_ reason: DiscoveryError) { failure = reason }

  /// Serves the session until `isWanted` returns false. Returns `nil` then, or the error if the connection breaks.
  func serve(while isWanted: () -> Bool) throws(DiscoveryError) -> DiscoveryError? {
    var code: Int32 = 0
    let start = ContinuousClock.now
    // With AVAHI_CLIENT_NO_FAIL a missing daemon is a state, so `nil` always means the bus. Without it both would
    // be AVAHI_ERR_NO_DAEMON.
    pointer = avahi_client_new(
      loop.api, AVAHI_CLIENT_NO_FAIL,
      { _, _, context in
        guard let context else { return }
        // The context outlives the client: it is `self`, which frees the client before it returns.
        Unmanaged<AvahiConnection>.fromOpaque(context).takeUnretainedValue().stateChanged = true
      }, Unmanaged.passUnretained(self).toOpaque(), &code)
    guard let client = pointer else {
      // libavahi-client reports NO_DAEMON here if the socket of the bus itself is missing.
      let isAbsent = code == AVAHI_ERR_NO_DAEMON.asCode
      return .noDBus(reason: isAbsent ? "it is not running" : String(cString: avahi_strerror(code)))
    }
    // Frees browsers, resolvers and groups as well, without a call that could block.
    defer {
      avahi_client_free(client)
      pointer = nil
    }
    // A hung daemon looks like an absent one, but no event announces that it answers again.
    let waited = start.duration(to: .now)
    if waited > Self.patience, daemonState(client) == .absent {
      return .daemonSilent(seconds: Int(waited / .seconds(1)))
    }
    stateChanged = true
    while isWanted() {
      if stateChanged {
        stateChanged = false
        guard let state = daemonState(client) else { return .connectionLost }
        try session.daemonChanged(to: state, on: self)
      }
      try session.step(on: self)
      if let failure { return failure }
      // A failed call may be the first sign that the daemon is gone.
      if stateChanged { continue }
      try loop.iterate(for: session.nextStep.map { ContinuousClock.now.duration(to: $0) })
    }
    return nil
  }

  private func daemonState(_ client: OpaquePointer) -> AvahiDaemonState? {
    switch avahi_client_get_state(client) {
    case AVAHI_CLIENT_S_RUNNING: .running
    case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: .choosingHostName
    case AVAHI_CLIENT_CONNECTING: .absent
    default: nil
    }
  }

  static func error(_ code: Int32) -> DiscoveryError {
    switch Int(code) {
    case AVAHI_ERR_NO_DAEMON: .daemonNotRunning
    case AVAHI_ERR_DISCONNECTED: .connectionLost
    case AVAHI_ERR_NOT_PERMITTED, AVAHI_ERR_ACCESS_DENIED: .publishingNotPermitted
    default: .avahi(code: code, reason: String(cString: avahi_strerror(code)))
    }
  }
}

extension Int {
  /// The error number as `Int32`: Avahi's constants are imported as `Int`.
  var asCode: Int32 { Int32(truncatingIfNeeded: self) }
}
