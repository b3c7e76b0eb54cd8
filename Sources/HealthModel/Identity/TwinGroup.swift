/// Records of one file that agree in all that their identities are made of, and so are told apart by their values.
public struct TwinGroup: Sendable {
  public var key: SampleKey
  /// By rank: as their ordinals are given out where no store knows the key yet.
  public var samples: [Sample]

  public init(key: SampleKey, samples: [Sample]) {
    self.key = key
    self.samples = samples
  }
}
