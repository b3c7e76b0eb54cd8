/// Why hpeer cannot be made a service of this user, or taken off again.
public enum UserServiceError: Error, Hashable, Sendable {
  /// There is no systemd here, or its programs are not in `PATH`.
  case noSystemd
  /// systemd runs nothing for this user now.
  case noManager(user: String, reason: String)
  /// There is a unit of this name that this program has not written.
  case foreignUnit(path: String)
  /// Another process serves the home or runs for it.
  case running(process: Int32)
  /// A path that a unit cannot name.
  case unusablePath(String)
  /// This program's own file cannot be told.
  case unknownProgram
  /// A file could not be written or removed.
  case unwritable(path: String, reason: String)
  /// `systemctl` refused something.
  case refused(command: String, reason: String)
  /// It is not installed.
  case notInstalled
}
