import Destinations
import Foundation
import OperatingSystem
import Synchronization

extension Home {
  /// The path of the user's settings file, `config.toml`.
  public var settingsPath: String { "\(configuration)/config.toml" }

  /// Reads the settings file; a missing file counts as empty. Throws `SettingsFileError`, `SystemError`. Blocking.
  public func settings() throws -> SettingsFile {
    let settings = try readableSettings()
    if let mistake = settings.mistakes.first { throw mistake }
    return settings
  }

  /// Reads the settings file and leaves out destinations and tables that have a mistake, which are listed in the
  /// result's `mistakes`. Throws `SettingsFileError` if the file is not valid TOML, and `SystemError`. Blocking.
  public func readableSettings() throws -> SettingsFile {
    let (bytes, path) = (try settingsBytes(), settingsPath)
    if let last = Self.lastSettings.withLock(\.self), last.path == path, last.text.utf8.elementsEqual(bytes) {
      return last
    }
    let settings = try SettingsFile(bytes: bytes, path: path, leavesOut: true)
    Self.lastSettings.withLock { $0 = settings }
    return settings
  }

  /// The settings that were last parsed. TOMLKit never frees what it has parsed, and a service reads its settings
  /// often, so an unchanged text is not parsed again.
  private static let lastSettings = Mutex<SettingsFile?>(nil)

  /// Replaces the settings file atomically, while holding its lock. Blocking.
  ///
  /// - Parameter edit: receives the current text, empty if there is no file, and returns the new text.
  public func editSettings(_ edit: (String) throws -> String) throws {
    try PrivateFile.makeDirectory(configuration)
    try FileLock.withLock("\(configuration)/config.lock") {
      let bytes = try settingsBytes()
      guard let text = String(validating: bytes, as: UTF8.self) else {
        _ = try SettingsFile(bytes: bytes, path: settingsPath)
        return
      }
      let edited = try edit(text)
      // If the settings file is a symbolic link, its target is replaced and the link stays.
      try PrivateFile.replace(HomeDirectory.resolved(settingsPath), Array(edited.utf8))
    }
  }

  /// Returns a path and the paths that it leads to by symbolic links; the last is the file itself.
  private static func links(from path: String) -> [String] {
    var places = [path]
    // The kernel follows 40 links at most.
    while places.count < 40, let last = places.last,
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: last)
    {
      let folder = HomeDirectory.resolved((last as NSString).deletingLastPathComponent)
      places.append(target.hasPrefix("/") ? target : "\(folder)/\(target)")
    }
    return places
  }

  private func settingsBytes() throws -> [UInt8] {
    let path = HomeDirectory.resolved(settingsPath)
    guard PrivateFile.exists(path) else { return [] }
    // Settings name programs that are run, so the file must be trusted. Root may read another user's home.
    let owner = geteuid() == 0 ? FileStatus(configuration)?.owner ?? 0 : geteuid()
    // Each link on the way must be in a place where no other user can replace it.
    for place in Self.links(from: settingsPath) { try HomeDirectory.requireTrusted(file: place, for: owner) }
    return try PrivateFile.read(path, limit: SettingsFile.longest + 1).bytes
  }

  // MARK: Secrets

  /// Returns the path of the file for a secret of a destination that was given at the terminal. No name has the dot
  /// between the two parts, so that no other destination has the same file.
  public func secretPath(_ destination: String, _ key: String) -> String {
    "\(configuration)/secrets/\(destination).\(key)"
  }

  /// Returns the path at which earlier versions stored the secret. Another destination may have the same.
  private func earlierSecretPath(_ destination: String, _ key: String) -> String {
    "\(configuration)/secrets/\(destination)-\(key)"
  }

  /// Stores a secret in a file with mode 0600. Blocking.
  ///
  /// - Returns: the reference for the settings file: `file:PATH`.
  public func keepSecret(_ text: String, of destination: String, _ key: String) throws(SystemError) -> String {
    let path = secretPath(destination, key)
    try PrivateFile.makeDirectory("\(configuration)/secrets")
    try PrivateFile.replace(path, Array(text.utf8) + [UInt8(ascii: "\n")])
    return "file:\(path)"
  }

  /// Deletes the secrets that were stored for a destination, but no file that the user has put elsewhere. Blocking.
  public func forgetSecrets(of section: DestinationSection) {
    for field in section.kind.description.fields where field.kind == .secret {
      unlink(secretPath(section.name, field.key))
    }
  }

  /// Deletes the secrets stored for a destination that `before` refers to and `after` does not. All kinds of
  /// destinations are considered, because the kind may be the mistake in a text. Blocking.
  public func forgetSecrets(of destination: String, namedIn before: String, andNotIn after: String) {
    let fields = DestinationKinds.all.flatMap { $0.description.fields }
    let keys = Set(fields.filter { $0.kind == .secret }.map(\.key))
    for path in keys.flatMap({ [secretPath(destination, $0), earlierSecretPath(destination, $0)] }) {
      let reference = "file:\(path)\""
      if before.contains(reference), !after.contains(reference) { unlink(path) }
    }
  }

  // MARK: State of destinations

  /// Returns the path of a destination's state directory. It has mode 0700, and is created when it is first used.
  public func folder(of destination: String) -> String { "\(directory)/destinations/\(destination)" }

  /// Deletes the delivery state and the dead letters of a removed destination. Blocking.
  public func forgetDeliveries(of destination: String) {
    try? FileManager.default.removeItem(atPath: "\(folder(of: destination))/state")
    unlink(deadLetters(of: destination).path)
  }

  /// Returns the changes that a destination has refused permanently.
  public func deadLetters(of destination: String) -> DeadLetters {
    DeadLetters(path: "\(folder(of: destination))/refused.jsonl")
  }
}
