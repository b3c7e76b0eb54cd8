import Foundation

/// How much of the record a client may read.
public struct PeerScope: Hashable, Sendable {
  /// HealthKit type identifiers; nil for all types, now and later.
  public var types: Set<String>?
  /// Samples that start before this are withheld; nil for none.
  public var earliest: Date?

  public init(types: Set<String>? = nil, earliest: Date? = nil) {
    self.types = types
    self.earliest = earliest
  }

  public static let everything = PeerScope()

  /// ``earliest`` in microseconds since 1970, cut to the first or last instant that 64 bits hold.
  public var earliestMicroseconds: Int64? { earliest?.microseconds }

  /// What both allow.
  func intersection(_ other: PeerScope) -> PeerScope {
    let types = types.map { own in other.types.map { own.intersection($0) } ?? own } ?? other.types
    return PeerScope(types: types, earliest: [earliest, other.earliest].compactMap(\.self).max())
  }

  public func allows(type: String) -> Bool { types?.contains(type) ?? true }
}

/// As a process tells a server which part of the record a window is for. A date beyond the years 1 to 9999 is refused.
extension PeerScope: Codable {
  private enum CodingKeys: String, CodingKey { case types, earliest }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    types = try container.decodeIfPresent(Set<String>.self, forKey: .types)
    earliest = try container.decodeIfPresent(Date.self, forKey: .earliest)
    guard let earliest else { return }
    guard (-62_135_596_800..<253_402_300_800).contains(earliest.timeIntervalSince1970) else {
      throw DecodingError.dataCorruptedError(
        forKey: .earliest, in: container, debugDescription: "The date is not of the years 1 to 9999.")
    }
  }
}
