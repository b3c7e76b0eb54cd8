import Destinations
import Foundation
import OperatingSystem
import Synchronization

extension Home {
  /// The file of a person's settings: `config.toml`.
  public var settingsPath: String { "\(configuration)/config.toml" }

  /// What a person has set; nothing where there is no file. Throws `SettingsFileError`, `SystemError`. Blocking.
  public func settings() throws -> SettingsFile {
    let settings = try readableSettings()
    if let mistake = settings.mistakes.first { throw mistake }
    return settings
  }

  /// The same without destinations and tables that have a mistake, which the file's `mistakes` tell. Throws
  /// `SettingsFileError` of a file that is none, and `SystemError`. Blocking.
  public func readableSettings() throws -> SettingsFile {
    let (bytes, path) = (try settingsBytes(), settingsPath)
    if let last = Self.lastSettings.withLock(\.self), last.path == path, last.text.utf8.elementsEqual(bytes) {
      return last
    }
    let settings = try SettingsFile(bytes: bytes, path: path, leavesOut: true)
    Self.lastSettings.withLock { $0 = settings }
    return settings
  }

  /// TOMLKit frees nothing that it has parsed, and what runs for years reads its settings often: a text that has not
  /// changed is not parsed again.
  private static let lastSettings = Mutex<SettingsFile?>(nil)

  /// Exchanges the settings for what `edit` makes of them, in one step and alone. Blocking.
  ///
  /// - Parameter edit: of the text as it is now, empty where there is none.
  public func editSettings(_ edit: (String) throws -> String) throws {
    try PrivateFile.makeDirectory(configuration)
    try FileLock.withLock("\(configuration)/config.lock") {
      let bytes = try settingsBytes()
      guard let text = String(validating: bytes, as: UTF8.self) else {
        _ = try SettingsFile(bytes: bytes, path: settingsPath)
        return
      }
      let edited = try edit(text)
      // A link to a file elsewhere, as people keep their settings, stays one.
      try PrivateFile.replace(HomeDirectory.resolved(settingsPath), Array(edited.utf8))
    }
  }

  /// A path, and what it leads to by links in the place of the file, the last that of the file itself.
  private static func links(from path: String) -> [String] {
    var places = [path]
    // As many as the kernel follows.
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
    // They name programs that are run. Root may look at another's home.
    let owner = geteuid() == 0 ? FileStatus(configuration)?.owner ?? 0 : geteuid()
    // Each link on the way lies where nobody else can exchange it.
    for place in Self.links(from: settingsPath) { try HomeDirectory.requireTrusted(file: place, for: owner) }
    return try PrivateFile.read(path, limit: SettingsFile.longest + 1).bytes
  }

  // MARK: Secrets

  /// Returns the path of the file for a secret of a destination that was given at the terminal. No name has the dot between the
  /// two parts, so that no other destination has the same file.
  public func secretPath(_ destination: String, _ key: String) -> String {
    "\(configuration)/secrets/\(destination).\(key)"
  }

  /// Keeps a secret in a file of mode 0600. Blocking.
  ///
  /// - Returns: what a setting says of it: `file:PATH`.
  public func keepSecret(_ text: String, of destination: String, _ key: String) throws(SystemError) -> String {
    let path = secretPath(destination, key)
    try PrivateFile.makeDirectory("\(configuration)/secrets")
    try PrivateFile.replace(path, Array(text.utf8) + [UInt8(ascii: "\n")])
    return "file:\(path)"
  }

  /// Removes the secrets that were kept for a destination, and nothing that a person has put elsewhere. Blocking.
  public func forgetSecrets(of section: DestinationSection) {
    for field in section.kind.description.fields where field.kind == .secret {
      unlink(secretPath(section.name, field.key))
    }
  }

  /// Removes the secrets that were kept for a destination of whatever kind, so far as one text of settings names them and
  /// another does not: what is wrong in a text may be its kind. Blocking.
  public func forgetSecrets(of destination: String, namedIn before: String, andNotIn after: String) {
    let fields = DestinationKinds.all.flatMap { $0.description.fields }
    for path in Set(fields.filter { $0.kind == .secret }.map { secretPath(destination, $0.key) }) {
      let reference = "file:\(path)\""
      if before.contains(reference), !after.contains(reference) { unlink(path) }
    }
  }

  // MARK: What destinations keep

  /// Of one destination, mode 0700: made by who needs it.
  public func folder(of destination: String) -> String { "\(directory)/destinations/\(destination)" }

  /// Forgets what a destination remembers of deliveries and what it has refused, once it is removed. Blocking.
  public func forgetDeliveries(of destination: String) {
    try? FileManager.default.removeItem(atPath: "\(folder(of: destination))/state")
    unlink(deadLetters(of: destination).path)
  }

  /// What it has refused for good.
  public func deadLetters(of destination: String) -> DeadLetters {
    DeadLetters(path: "\(folder(of: destination))/refused.jsonl")
  }
}
