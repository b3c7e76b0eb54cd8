import Foundation
import HealthModel

/// Samples that agree in all that identities are made of, ranked by their values. A group may hold one sample only:
/// what finds equal keys errs on the safe side.
///
/// Their ordinals are for the caller to choose. ``byRank()`` is what a store without earlier samples needs.
public struct HeldGroup: Sendable {
  /// As in ``SampleIdentity``.
  public var kind: String
  /// The name of the source that identities use, which may not be the one in the samples.
  public var identityName: String
  /// Without identities, from the lowest rank to the highest.
  public var samples: [Sample]

  /// The identity of any of the samples under `ordinal`.
  public func uuid(ordinal: Int) -> UUID {
    SampleIdentity.uuid(
      kind: kind, type: samples[0].type, source: identityName, start: samples[0].start, end: samples[0].end,
      created: samples[0].created, ordinal: ordinal)
  }

  /// The samples with their ranks as ordinals.
  public func byRank() -> [Sample] {
    samples.enumerated().map { ordinal, sample in
      var sample = sample
      sample.uuid = uuid(ordinal: ordinal)
      return sample
    }
  }
}
