/// Records of one file that agree in all that their identities are made of, and so are told apart by their values.
///
/// Their ordinals are for a store to choose. ``byRank()`` is what one needs that knows none of them.
public struct TwinGroup: Sendable {
  /// What all of them agree in.
  public var key: SampleKey
  /// Without identities, from the lowest rank to the highest.
  public var samples: [Sample]

  /// - Parameter samples: already ranked by ``Sample/canonicalValue``; not sorted here.
  public init(key: SampleKey, samples: [Sample]) {
    self.key = key
    self.samples = samples
  }

  /// The samples with their ranks as ordinals.
  public func byRank() -> [Sample] {
    samples.enumerated().map { ordinal, sample in
      var sample = sample
      sample.uuid = key.uuid(ordinal: ordinal)
      return sample
    }
  }
}
