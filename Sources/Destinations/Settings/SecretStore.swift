import Foundation
import Glibc
import OperatingSystem

/// A reader of secrets, from the locations that settings name. Its errors never contain a secret.
public struct SecretStore: Sendable {
  private static let longest = 64 * 1_024
  private let environment: [String: String]

  /// Creates a reader.
  ///
  /// - Parameter environment: the variables for `env:`, `credential:` and `~`.
  public init(environment: [String: String] = ProcessInfo.processInfo.environment) { self.environment = environment }

  /// Returns the secret of a setting without its trailing line break, or `nil` if the setting is missing. Blocking.
  ///
  /// - Throws: ``SettingsError/Problem/unreadableSecret(_:)``
  public func read(_ key: String, of settings: DestinationSettings) throws(SettingsError) -> String? {
    guard let reference = try settings.secret(key) else { return nil }
    do {
      return try read(reference)
    } catch {
      throw SettingsError(key, .unreadableSecret(error.reason))
    }
  }

  /// Returns the secret that a text refers to, such as a value in a table of headers. Blocking.
  ///
  /// - Throws: ``SettingsError/Problem/unreadableSecret(_:)``, or ``SettingsError/Problem/secretInTheOpen``.
  func read(_ text: String, for key: String) throws(SettingsError) -> String {
    guard let reference = SecretReference(text) else { throw SettingsError(key, .secretInTheOpen) }
    do {
      return try read(reference)
    } catch {
      throw SettingsError(key, .unreadableSecret(error.reason))
    }
  }

  private struct Failure: Error { var reason: String }

  private func read(_ reference: SecretReference) throws(Failure) -> String {
    switch reference {
    case .environment(let name):
      guard let value = environment[name], !value.isEmpty else {
        throw Failure(reason: "the environment has no \(name)")
      }
      return value
    case .credential(let name):
      guard let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
        throw Failure(reason: "systemd has handed no credentials to this process")
      }
      return try read(file: "\(folder)/\(name)", mayBeReadByOthers: true)
    case .file(let path):
      return try read(file: UserPath.expandingTilde(path, environment), mayBeReadByOthers: false)
    }
  }

  private func read(file path: String, mayBeReadByOthers: Bool) throws(Failure) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure(reason: "\(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(reason: "\(path) is no file")
    }
    if !mayBeReadByOthers, status.st_mode & 0o077 != 0 {
      throw Failure(reason: "others may read \(path): chmod 600 it")
    }
    var bytes = [UInt8](repeating: 0, count: Self.longest + 1)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw Failure(reason: "\(path): \(String(cString: strerror(errno)))") }
    guard count <= Self.longest else { throw Failure(reason: "\(path) is too long for a secret") }
    var text = String(decoding: bytes[..<count], as: UTF8.self)
    while text.last?.isNewline == true { text.removeLast() }
    guard !text.isEmpty else { throw Failure(reason: "\(path) is empty") }
    return text
  }
}

/// The location of a secret: `file:PATH`, `env:NAME` or `credential:NAME` (of systemd, in `$CREDENTIALS_DIRECTORY`).
/// Settings contain only the location, so that they can be printed, copied and committed.
public enum SecretReference: Hashable, Sendable {
  /// A file that only its owner can access, mode 0600 or narrower. `~` is this user's home.
  case file(String)
  /// An environment variable of this process.
  case environment(String)
  /// A file name without a path, in systemd's credentials directory.
  case credential(String)

  /// Parses a reference, or returns `nil` if the text is none.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    let name = String(parts[1])
    switch parts[0] {
    case "file": self = .file(name)
    case "env": self = .environment(name)
    case "credential":
      guard !name.contains("/"), name != ".", name != ".." else { return nil }
      self = .credential(name)
    default: return nil
    }
  }
}
