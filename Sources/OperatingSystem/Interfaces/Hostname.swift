import Foundation

/// What this machine is called on its network.
public enum Hostname {
  /// The host name up to its first dot.
  public static var short: String {
    let name = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
    return name.isEmpty ? "hpeer" : String(name)
  }
}
