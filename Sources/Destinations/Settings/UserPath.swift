import Foundation

/// A path as a person writes it.
enum UserPath {
  /// `~` is this user's home; what is relative begins there, since a service has no other place.
  static func absolute(_ path: String) -> String {
    let home = ProcessInfo.processInfo.environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
    if path == "~" { return home }
    if path.hasPrefix("~/") { return home + path.dropFirst() }
    return path.hasPrefix("/") ? path : "\(home)/\(path)"
  }
}
