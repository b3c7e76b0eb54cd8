/// An error that prevents discovering or advertising services.
public enum DiscoveryError: Error, Sendable, Hashable {
  /// avahi-daemon is not running; D-Bus is.
  case daemonNotRunning
  /// The system bus, which is needed to reach avahi-daemon, does not answer. `reason` is a few words.
  case noDBus(reason: String)
  /// avahi-daemon is running but does not answer.
  case daemonSilent(seconds: Int)
  /// The connection to avahi-daemon was lost.
  case connectionLost
  /// avahi-daemon does not permit publishing, for this user or at all.
  case publishingNotPermitted
  /// avahi-daemon refused a request. `code` is an `AVAHI_ERR_` number, `reason` its text.
  case avahi(code: Int32, reason: String)
  /// A TXT record entry cannot be sent: the key must be printable ASCII without `=`, the entry at most 255 bytes
  /// (RFC 6763 section 6).
  case invalidTXTEntry(key: String)
  /// The TXT record is longer than `maximum` bytes.
  case txtRecordTooLong(bytes: Int, maximum: Int)
  /// The kernel refused an event descriptor or memory.
  case outOfResources
}

extension DiscoveryError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .daemonNotRunning:
      "avahi-daemon is not running: start it with `sudo systemctl start avahi-daemon`, "
        + "or name the other machine with --host NAME:PORT."
    case .noDBus(let reason):
      "The D-Bus system bus, which leads to avahi-daemon, cannot be reached (\(reason)): "
        + "start it with `sudo systemctl start dbus avahi-daemon`, or name the other machine with --host NAME:PORT."
    case .daemonSilent(let seconds):
      "avahi-daemon has not answered for \(seconds) seconds: restart it with `sudo systemctl restart avahi-daemon`, "
        + "or name the other machine with --host NAME:PORT."
    case .connectionLost:
      "The connection to avahi-daemon was lost: if it does not come back by itself, "
        + "look at `systemctl status avahi-daemon dbus`."
    case .publishingNotPermitted:
      "avahi-daemon does not allow this user to publish a service: see disable-publishing and "
        + "disable-user-service-publishing in /etc/avahi/avahi-daemon.conf, "
        + "or name this machine on the other one with --host NAME:PORT."
    case .avahi(let code, let reason):
      "avahi-daemon refused (\(reason), error \(code)): look at `journalctl -u avahi-daemon`, "
        + "or name the other machine with --host NAME:PORT."
    case .invalidTXTEntry(let key):
      "The TXT record entry \(key.debugDescription) cannot be published: "
        + "use a printable ASCII key without `=`, and at most 255 bytes for key and value together."
    case .txtRecordTooLong(let bytes, let maximum):
      "The TXT record has \(bytes) bytes: shorten it to \(maximum)."
    case .outOfResources:
      "The system has no file descriptor or memory left for discovery: close other programs and try again."
    }
  }
}
