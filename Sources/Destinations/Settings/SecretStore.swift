import Foundation
import Glibc
import OperatingSystem

/// Reads secrets from where settings say that they are. Their text is in no error.
public struct SecretStore: Sendable {
  private static let longest = 64 * 1_024
  private let environment: [String: String]

  /// - Parameter environment: for `env:`, `credential:` and `~`.
  public init(environment: [String: String] = ProcessInfo.processInfo.environment) { self.environment = environment }

  /// The secret of a setting, without the line break at its end; `nil` where the setting is not there. Blocking.
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

  /// The secret that a text of a setting names, as a table of headers does. Blocking.
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

/// Where a secret is: `file:PATH`, `env:NAME` or `credential:NAME` (of systemd, in `$CREDENTIALS_DIRECTORY`). Never the secret
/// itself, so that settings may be printed, copied and committed.
public enum SecretReference: Hashable, Sendable {
  /// Mode 0600 or narrower, this user's own. `~` is their home.
  case file(String)
  /// A variable of this process.
  case environment(String)
  /// A file name without a path.
  case credential(String)

  /// `nil` of a text that names none of them.
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
