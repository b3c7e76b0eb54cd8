/// The app or device that recorded a sample (`HKSourceRevision`).
public struct Source: Hashable, Sendable, Codable {
  /// The name that people see, byte for byte: `Casey’s Apple Watch` may contain U+00A0 and U+2019.
  public var name: String
  /// The app's bundle identifier, such as `com.apple.health.…`. Apple's export does not include it.
  public var bundleIdentifier: String?
  /// The version of the app, or of the operating system for Apple's own sources, as free text.
  public var version: String?

  /// Creates a source.
  ///
  /// - Parameter name: kept byte for byte, because identities are derived from it.
  public init(name: String, bundleIdentifier: String? = nil, version: String? = nil) {
    self.name = name
    self.bundleIdentifier = bundleIdentifier
    self.version = version
  }
}
