/// The route by which a sample came from the phone to hpeer. The UUID version does not tell: Health Auto Export
/// samples have derived UUIDs too.
///
/// The raw values are stored and sent, so they must not change.
public enum SampleRoad: UInt8, Sendable, CaseIterable {
  /// An unrecorded road: the sample came from a program that does not report it.
  case unknown = 0
  /// An Apple Health export.
  case appleExport = 1
  /// A sample file in hpeer's own format.
  case file = 2
  /// HealthAppTransfer, an app that sends HealthKit's UUIDs.
  case healthAppTransfer = 3
  /// HealthSync, an app that sends HealthKit's UUIDs.
  case healthSync = 4
  /// A file of the app Health Auto Export.
  case healthAutoExport = 5

  /// The name in JSON.
  public var name: String { "\(self)" }

  /// The priority of copies by this road, lower for copies that usually carry more detail.
  package var rank: Int { self == .unknown ? Int.max : Int(rawValue) }
}

extension SampleRoad: Codable {
  public init(from decoder: any Decoder) throws {
    let name = try decoder.singleValueContainer().decode(String.self)
    // Newer versions may have other names.
    self = Self.allCases.first { $0.name == name } ?? .unknown
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}
