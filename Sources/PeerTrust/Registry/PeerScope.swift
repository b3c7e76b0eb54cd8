import Foundation

/// How much of the record a client may read.
public struct PeerScope: Hashable, Sendable, Codable {
  /// HealthKit type identifiers; nil for all types, now and later.
  public var types: Set<String>?
  /// Samples that start before this are withheld; nil for none.
  public var earliest: Date?

  public init(types: Set<String>? = nil, earliest: Date? = nil) {
    self.types = types
    self.earliest = earliest
  }

  public static let everything = PeerScope()

  public func allows(type: String) -> Bool { types?.contains(type) ?? true }
}
