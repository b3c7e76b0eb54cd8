import HealthModel
import HealthStore

/// What a comparison with a peer found.
public struct Verification: Hashable, Sendable {
  /// What was compared: what was asked for, as far as the peer lets this machine see it.
  public var filter: SampleFilter
  /// Whether what the samples say was compared, too.
  public var isDeep: Bool
  /// The digest of this store under ``filter``.
  public var here: RecordDigest
  /// Sorted by type and month.
  public var differences: [DigestDifference]

  /// Whether no difference was found; of what the samples say, only if ``isDeep``.
  public var isEqual: Bool { differences.isEmpty }
}

/// How far a comparison is.
public struct VerifyProgress: Hashable, Sendable {
  /// Samples whose contents have been compared.
  public var samples: Int
  /// Samples whose contents are to be compared.
  public var total: Int
}
