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
