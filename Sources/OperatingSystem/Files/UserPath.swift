import Foundation

/// A path as a person writes it.
public enum UserPath {
  /// `~` is this user's home; what is relative begins there, since a service has no other place.
  public static func absolute(_ path: String) -> String {
    let environment = ProcessInfo.processInfo.environment
    let expanded = expandingTilde(path, environment)
    return expanded.hasPrefix("/") ? expanded : "\(home(environment))/\(expanded)"
  }

  /// `~` is this user's home; what is relative stays so.
  public static func expandingTilde(_ path: String, _ environment: [String: String]) -> String {
    path == "~" || path.hasPrefix("~/") ? home(environment) + path.dropFirst() : path
  }

  private static func home(_ environment: [String: String]) -> String {
    environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
  }
}
