/// How a sample came from the phone to hpeer. The version of a UUID does not tell: Health Auto Export's are derived, too.
///
/// The raw values are stored and sent: they stay as they are.
public enum SampleRoad: UInt8, Sendable, CaseIterable {
  /// Not recorded: the sample came from a program that does not say.
  case unknown = 0
  /// An Apple Health export.
  case appleExport = 1
  /// A file of samples, as hpeer writes it.
  case file = 2
  /// HealthAppTransfer, an app that sends HealthKit's UUIDs.
  case healthAppTransfer = 3
  /// HealthSync, an app that sends HealthKit's UUIDs.
  case healthSync = 4
  /// A file of the app Health Auto Export.
  case healthAutoExport = 5

  /// The name in JSON.
  public var name: String { "\(self)" }

  /// How much a copy that came so says of a sample, as a rule: the lower the more.
  package var rank: Int { self == .unknown ? Int.max : Int(rawValue) }
}

extension SampleRoad: Codable {
  public init(from decoder: any Decoder) throws {
    let name = try decoder.singleValueContainer().decode(String.self)
    // One of tomorrow.
    self = Self.allCases.first { $0.name == name } ?? .unknown
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}
