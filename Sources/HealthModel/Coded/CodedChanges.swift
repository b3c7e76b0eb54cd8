/// Changes whose texts are references into dictionaries: how a store holds them, and how they travel fastest.
///
/// Made by a ``ChangeCoder``, read by a ``ChangeExpander``. Every index in ``samples`` and ``tombstones`` is one of the
/// dictionary that it refers to, and the texts are what a ``ChangeCoder`` makes: whoever fills one from foreign bytes
/// sees to that.
public struct CodedChanges: Hashable, Sendable {
  public var types: [SampleType] = []
  /// Of payloads; see ``Payload/kind``.
  public var kinds: [String] = []
  public var units: [String] = []
  public var sources: [Source] = []
  public var devices: [Device] = []
  /// As ``MetadataText`` writes them; none empty.
  public var metadata: [String] = []
  /// As ``CanonicalJSON`` writes them.
  public var payloads: [String] = []

  public var samples: [CodedSample] = []
  public var tombstones: [CodedTombstone] = []

  public init(
    types: [SampleType] = [], kinds: [String] = [], units: [String] = [], sources: [Source] = [],
    devices: [Device] = [], metadata: [String] = [], payloads: [String] = [], samples: [CodedSample] = [],
    tombstones: [CodedTombstone] = []
  ) {
    self.types = types
    self.kinds = kinds
    self.units = units
    self.sources = sources
    self.devices = devices
    self.metadata = metadata
    self.payloads = payloads
    self.samples = samples
    self.tombstones = tombstones
  }

  public var isEmpty: Bool { samples.isEmpty && tombstones.isEmpty }
  public var count: Int { samples.count + tombstones.count }
}
