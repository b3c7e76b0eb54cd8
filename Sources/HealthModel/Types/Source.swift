/// Who recorded a sample (`HKSourceRevision`).
public struct Source: Hashable, Sendable, Codable {
  /// As the person sees it, byte for byte: `Casey’s Apple Watch` may hold U+00A0 and U+2019.
  public var name: String
  /// `com.apple.health.…`; Apple's export does not have it.
  public var bundleIdentifier: String?
  public var version: String?

  public init(name: String, bundleIdentifier: String? = nil, version: String? = nil) {
    self.name = name
    self.bundleIdentifier = bundleIdentifier
    self.version = version
  }
}
