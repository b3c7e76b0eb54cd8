import HealthModel

/// A source of samples: a watch, a phone or an app, with a new version every few months.
struct Recorder: Sendable {
  /// The time for which a version is in use, in seconds.
  private static let lifetime: Int64 = 120 * 86_400

  /// The sources in an export, by version. Apple's export has no bundle identifiers.
  private let exported: [Source]
  private let lived: [Source]
  private let devices: [Device]

  private init(_ name: String, bundle: String, hardware: ((_ version: Int) -> Device)? = nil) {
    let versions = 0...Int(HealthHistory.span / Self.lifetime + 1)
    exported = versions.map { Source(name: name, version: Self.number($0)) }
    lived = versions.map { Source(name: name, bundleIdentifier: bundle, version: Self.number($0)) }
    devices = hardware.map { hardware in versions.map(hardware) } ?? []
  }

  func source(at time: Int64, isLive: Bool) -> Source {
    (isLive ? lived : exported)[Self.version(at: time)]
  }

  func device(at time: Int64) -> Device? {
    devices.isEmpty ? nil : devices[Self.version(at: time)]
  }

  private static func version(at time: Int64) -> Int {
    Int(min(HealthHistory.span, time - HealthHistory.begin) / lifetime)
  }
  private static func number(_ version: Int) -> String { "\(8 + version / 4).\(version % 4)" }

  // MARK: One person's

  static let watchName = "Robin\u{2019}s\u{A0}Apple\u{A0}Watch"
  static let watch = Self(
    watchName, bundle: "com.apple.health.0B6A1E0C-7F4E-4F0B-9D53-6D1B8A6C2F41"
  ) { version in
    Device(
      name: "Apple Watch", manufacturer: "Apple Inc.", model: "Watch", hardwareVersion: "Watch\(3 + version / 8),2",
      softwareVersion: number(version))
  }
  static let phone = Self(
    "Robin\u{2019}s iPhone", bundle: "com.apple.health.C9C1B0D5-31B1-4E2E-8C7B-2C1F0E5A9D10"
  ) { version in
    Device(
      name: "iPhone", manufacturer: "Apple Inc.", model: "iPhone", hardwareVersion: "iPhone\(8 + version / 6),3",
      softwareVersion: number(version))
  }
  static let cuff = Self("Cuff & Co", bundle: "com.example.cuff")
  static let scale = Self("Scales", bundle: "com.example.scales") { _ in
    Device(name: "Scale", manufacturer: "Example", model: "S2", hardwareVersion: "1", softwareVersion: "1.0")
  }
  static let sensor = Self("Sugar Log", bundle: "com.example.sugarlog")
}
