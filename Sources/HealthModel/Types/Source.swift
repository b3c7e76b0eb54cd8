/// Who recorded a sample (`HKSourceRevision`).
public struct Source: Hashable, Sendable, Codable {
  /// As the person sees it, byte for byte: `Casey’s Apple Watch` may hold U+00A0 and U+2019.
  public var name: String
  /// `com.apple.health.…`; Apple's export does not have it.
  public var bundleIdentifier: String?
  /// The version of the app, or of the operating system for Apple's own sources; free text.
  public var version: String?

  /// - Parameter name: kept byte for byte, since identities are made of it.
  public init(name: String, bundleIdentifier: String? = nil, version: String? = nil) {
    self.name = name
    self.bundleIdentifier = bundleIdentifier
    self.version = version
  }
}
