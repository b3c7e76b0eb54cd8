/// Dictionary-encoded changes: samples and tombstones whose texts are indices into dictionaries. A store holds them so,
/// and they travel fastest so.
///
/// Made by a ``ChangeCoder``, read by a ``ChangeExpander``. Every index in ``samples`` and ``tombstones`` is one of the
/// dictionary that it refers to, and the texts are what a ``ChangeCoder`` makes: whoever fills one from foreign bytes
/// sees to that.
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
/// For samples that people look at, or that are few, ``Sample`` is simpler.
public struct CodedChanges: Hashable, Sendable {
  /// The dictionary that ``CodedSample/type`` and ``CodedTombstone/type`` index.
  public var types: [SampleType] = []
  /// Dictionary of payload kinds; see ``Payload/kind``.
  public var kinds: [String] = []
  /// Dictionary of the unit strings of quantities.
  public var units: [String] = []
  /// Dictionary of sources, byte for byte distinct, though `==` may hold two equal; see ``ExactlyComparable``.
  public var sources: [Source] = []
  /// Dictionary of devices, byte for byte distinct, as ``sources``.
  public var devices: [Device] = []
  /// Dictionary of metadata as ``MetadataText`` writes it; none is empty.
  public var metadata: [String] = []
  /// Payloads as ``CanonicalJSON`` writes them, one for each sample that has one.
  public var payloads: [String] = []
  /// Statements, one for each sample and tombstone whose key has several records; see ``KeyStatement``.
  public var statements: [KeyStatement] = []

  /// Additions, in the order in which they were put in.
  public var samples: [CodedSample] = []
  /// Deletions, in the order in which they were put in.
  public var tombstones: [CodedTombstone] = []

  /// - Precondition: every index is one of its dictionary. Nothing checks it here.
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

  /// Whether nothing changed; the dictionaries are not asked.
  public var isEmpty: Bool { samples.isEmpty && tombstones.isEmpty }
  /// Additions and deletions together.
  public var count: Int { samples.count + tombstones.count }
}
