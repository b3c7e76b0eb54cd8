import Foundation

/// Where a user's files belong: XDG Base Directory Specification 0.8.
///
/// A variable that is empty counts as unset, and one of the XDG ones that is not absolute is ignored.
struct UserDirectories {
  private let environment: [String: String]

  init(environment: [String: String]) {
    self.environment = environment
  }

  /// `XDG_DATA_HOME`.
  var data: String { absoluteValue(of: "XDG_DATA_HOME") ?? home + "/.local/share" }

  /// `XDG_CONFIG_HOME`.
  var configuration: String { absoluteValue(of: "XDG_CONFIG_HOME") ?? home + "/.config" }

  /// `XDG_RUNTIME_DIR`, which has no default.
  var runtime: String? { absoluteValue(of: "XDG_RUNTIME_DIR") }

  /// `HOME`, else what the password file says.
  var home: String { absoluteValue(of: "HOME") ?? NSHomeDirectory() }

  /// A variable that is set and not empty.
  func value(of name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A path as a person gives it: from the current directory, or with `~` for this user's own.
  func absolute(_ path: String) -> String {
    if path == "~" || path.hasPrefix("~/") { return home + path.dropFirst() }
    return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  private func absoluteValue(of name: String) -> String? {
    value(of: name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}
