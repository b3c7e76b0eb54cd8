/// A hearing test (`HKAudiogramSample`).
public struct Audiogram: Hashable, Sendable {
  /// In the order of the source.
  public var points: [SensitivityPoint]

  /// - Parameter points: one for each frequency that was tested.
  public init(points: [SensitivityPoint]) {
    self.points = points
  }
}

/// What each ear hears at one frequency (`HKAudiogramSensitivityPoint`).
public struct SensitivityPoint: Hashable, Sendable {
  /// Usually in `Hz`.
  public var frequency: Quantity
  /// `nil` where the left ear was not tested.
  public var left: EarSensitivity?
  /// `nil` where the right ear was not tested.
  public var right: EarSensitivity?

  /// A frequency at which neither ear was tested is kept, too.
  public init(frequency: Quantity, left: EarSensitivity? = nil, right: EarSensitivity? = nil) {
    self.frequency = frequency
    self.left = left
    self.right = right
  }
}

/// The hearing threshold of one ear at one frequency (`HKAudiogramSensitivityTest`).
public struct EarSensitivity: Hashable, Sendable {
  /// Usually in `dBHL`.
  public var threshold: Quantity?
  /// Whether the other ear was kept busy with noise.
  public var masked: Bool?
  /// The range that the threshold is held to, in its unit.
  public var lowerBound: Double?
  /// See ``lowerBound``.
  public var upperBound: Double?

  /// `nil` stands for whatever the source did not say.
  public init(
    threshold: Quantity? = nil, masked: Bool? = nil, lowerBound: Double? = nil, upperBound: Double? = nil
  ) {
    self.threshold = threshold
    self.masked = masked
    self.lowerBound = lowerBound
    self.upperBound = upperBound
  }
}

extension Audiogram: SamplePayload {
  package static let kind = "audiogram"
  package static let isUniqueAtItsTime = true
  package var payload: Payload { .audiogram(self) }

  public init(from decoder: any Decoder) throws {
    points = try decoder.strictContainer(["points"]).decode([SensitivityPoint].self, forKey: "points")
  }
}

extension SensitivityPoint: Codable {
  public init(from decoder: any Decoder) throws {
    let object = try decoder.strictContainer(["frequency", "left", "right"])
    frequency = try object.decode(Quantity.self, forKey: "frequency")
    left = try object.decodeIfPresent(EarSensitivity.self, forKey: "left")
    right = try object.decodeIfPresent(EarSensitivity.self, forKey: "right")
  }
}

extension EarSensitivity: Codable {
  public init(from decoder: any Decoder) throws {
    let object = try decoder.strictContainer(["threshold", "masked", "lowerBound", "upperBound"])
    threshold = try object.decodeIfPresent(Quantity.self, forKey: "threshold")
    masked = try object.decodeIfPresent(Bool.self, forKey: "masked")
    lowerBound = try object.decodeNumberIfPresent(forKey: "lowerBound")
    upperBound = try object.decodeNumberIfPresent(forKey: "upperBound")
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: OpenKey.self)
    try object.encodeIfPresent(threshold, forKey: "threshold")
    try object.encodeIfPresent(masked, forKey: "masked")
    try object.encodeNumberIfPresent(lowerBound, forKey: "lowerBound")
    try object.encodeNumberIfPresent(upperBound, forKey: "upperBound")
  }
}
