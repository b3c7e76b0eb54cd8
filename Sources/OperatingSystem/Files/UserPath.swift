import Foundation

/// A path as written by a person.
public enum UserPath {
  /// Returns the absolute path. `~` is this user's home directory, and relative paths start there because a service
  /// has no meaningful current directory.
  public static func absolute(_ path: String) -> String {
    let environment = ProcessInfo.processInfo.environment
    let expanded = expandingTilde(path, environment)
    return expanded.hasPrefix("/") ? expanded : "\(home(environment))/\(expanded)"
  }

  /// Returns the path with `~` replaced by this user's home directory. Relative paths stay relative.
  public static func expandingTilde(_ path: String, _ environment: [String: String]) -> String {
    path == "~" || path.hasPrefix("~/") ? home(environment) + path.dropFirst() : path
  }

  private static func home(_ environment: [String: String]) -> String {
    environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
  }
}
