/// A hearing test (`HKAudiogramSample`).
public struct Audiogram: Hashable, Sendable {
  /// The sensitivity points in the order of the source.
  public var points: [SensitivityPoint]

  /// Creates an audiogram.
  ///
  /// - Parameter points: a point for each tested frequency.
  public init(points: [SensitivityPoint]) {
    self.points = points
  }
}

/// The hearing thresholds of both ears at one frequency (`HKAudiogramSensitivityPoint`).
public struct SensitivityPoint: Hashable, Sendable {
  /// The frequency, usually in `Hz`.
  public var frequency: Quantity
  /// The left ear's sensitivity, or `nil` if it was not tested.
  public var left: EarSensitivity?
  /// The right ear's sensitivity, or `nil` if it was not tested.
  public var right: EarSensitivity?

  /// Creates a point. A frequency at which neither ear was tested is kept too.
  public init(frequency: Quantity, left: EarSensitivity? = nil, right: EarSensitivity? = nil) {
    self.frequency = frequency
    self.left = left
    self.right = right
  }
}

/// The hearing threshold of one ear at one frequency (`HKAudiogramSensitivityTest`).
public struct EarSensitivity: Hashable, Sendable {
  /// The hearing threshold, usually in `dBHL`.
  public var threshold: Quantity?
  /// Whether the other ear was masked with noise.
  public var masked: Bool?
  /// The lower bound to which the threshold is clamped, in its unit.
  public var lowerBound: Double?
  /// The upper bound to which the threshold is clamped, in its unit.
  public var upperBound: Double?

  /// Creates a sensitivity. `nil` means that the source gives no value.
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
