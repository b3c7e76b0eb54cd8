/// Dictionary-encoded changes: samples and tombstones whose texts are indices into dictionaries. Stores and the wire
/// use this form because it is compact and fast.
///
/// Created by ``ChangeCoder`` and read by ``ChangeExpander``. Every index in ``samples`` and ``tombstones`` must be
/// valid in its dictionary, and the texts must have the form that ``ChangeCoder`` writes. Code that decodes untrusted
/// bytes must ensure both.
///
/// ```swift
/// func again(_ samples: [Sample]) throws -> [Sample] {
///   var coder = ChangeCoder()
///   for sample in samples { try coder.add(sample) }
///   let changes = coder.changes
///   let expander = try ChangeExpander(changes)
///   return try changes.samples.map { try expander.sample($0) }
/// }
/// ```
///
/// ``Sample`` is simpler for displaying samples, or for small numbers of them.
public struct CodedChanges: Hashable, Sendable {
  /// The sample types, indexed by ``CodedSample/type`` and ``CodedTombstone/type``.
  public var types: [SampleType] = []
  /// The payload kinds; see ``Payload/kind``.
  public var kinds: [String] = []
  /// The unit strings of quantities.
  public var units: [String] = []
  /// The sources. They are distinct byte for byte, but two may be equal under `==`; see ``ExactlyComparable``.
  public var sources: [Source] = []
  /// The devices, which are distinct byte for byte like ``sources``.
  public var devices: [Device] = []
  /// The metadata texts as written by ``MetadataText``, without empty ones.
  public var metadata: [String] = []
  /// The payloads as written by ``CanonicalJSON``, one for each sample that has a payload.
  public var payloads: [String] = []
  /// The statements, one for each sample and tombstone whose key has several records; see ``KeyStatement``.
  public var statements: [KeyStatement] = []

  /// The added samples, in insertion order.
  public var samples: [CodedSample] = []
  /// The deletions, in insertion order.
  public var tombstones: [CodedTombstone] = []

  /// Creates changes from their parts.
  ///
  /// - Precondition: every index is valid in its dictionary. This is not checked.
  public init(
    types: [SampleType] = [], kinds: [String] = [], units: [String] = [], sources: [Source] = [],
    devices: [Device] = [], metadata: [String] = [], payloads: [String] = [], statements: [KeyStatement] = [],
    samples: [CodedSample] = [], tombstones: [CodedTombstone] = []
  ) {
    self.types = types
    self.kinds = kinds
    self.units = units
    self.sources = sources
    self.devices = devices
    self.metadata = metadata
    self.payloads = payloads
    self.statements = statements
    self.samples = samples
    self.tombstones = tombstones
  }

  /// Whether there are no samples and tombstones. The dictionaries are ignored.
  public var isEmpty: Bool { samples.isEmpty && tombstones.isEmpty }
  /// The number of samples and tombstones.
  public var count: Int { samples.count + tombstones.count }
}
