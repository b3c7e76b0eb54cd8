import HealthModel
import HealthStore

/// The kind of a source, from the highest rank to the lowest.
public enum SourceClass: Int, Hashable, Sendable, Comparable {
  /// Data entered by a person (`HKMetadataKeyWasUserEntered`).
  case manual
  /// An Apple Watch.
  case watch
  /// An iPhone, iPad or iPod.
  case phone
  /// Any other app, on any device.
  case app

  public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// The information about a source in a store that determines its rank.
public struct SourceEvidence: Hashable, Sendable {
  /// The store's identifier of the source.
  public var id: Int64
  public var source: Source
  /// The start of its first sample of the ranked type, in the whole store.
  public var first: Timestamp
  /// The number of its samples, of all types, by measuring device.
  public var devices: [Device?: Int]

  /// Creates the evidence of a source.
  ///
  /// - Parameter id: unique within the store.
  public init(id: Int64, source: Source, first: Timestamp, devices: [Device?: Int] = [:]) {
    self.id = id
    self.source = source
    self.first = first
    self.devices = devices
  }
}

/// The priority of sources that recorded data for the same time. Each source counts only where no source above it has
/// data, as in HealthKit (https://support.apple.com/en-us/108779).
///
/// ```swift
/// let watch = SourceEvidence(
///   id: 1, source: Source(name: "Watch", bundleIdentifier: "com.apple.health.A"), first: Timestamp(seconds: 0))
/// let app = SourceEvidence(id: 2, source: Source(name: "Pedometer"), first: Timestamp(seconds: 9))
/// print(SourceRanking([app, watch]).sources.map(\.name))  // ["manual", "Watch", "Pedometer"]
/// ```
public struct SourceRanking: Hashable, Sendable {
  /// A source, including all of its names in the store.
  public struct Entry: Hashable, Sendable {
    /// The name as people see it.
    public var name: String
    public var sourceClass: SourceClass
    /// The start of its first sample of the type, or `nil` for manual entries, which rank first regardless of their
    /// time.
    public var first: Timestamp?
    /// Whether the person has chosen it as the first.
    public var isChosen = false
  }

  /// The sources from the highest rank to the lowest. Manual entries of all sources form a single entry: the first,
  /// or the second if a source was chosen as the first.
  public let sources: [Entry]
  /// The ``SourceEvidence/id``s of each source, indexed by rank. The entry for manual entries is empty.
  let ids: [[Int64]]
  /// The rank of manual entries.
  private let manual: Int
  /// The ranks of sources by ``SourceEvidence/id``.
  private let ranks: [Int64: Int]
  private let ranksBySource: [Source: Int]

  /// Creates a ranking: watches before phones, phones before apps. Within a class the source with the newest first
  /// sample comes first, then the order is by name. Records with a common name or bundle identifier are the same
  /// source: exports have only the name, apps on phones have both.
  ///
  /// - Parameter chosen: the name of the source that precedes all others, even manual entries; `nil` for none. An
  ///   unknown name has no effect.
  public init(_ evidence: [SourceEvidence], first chosen: String? = nil) {
    var groups = SourceGroups()
    for one in evidence { groups.add(one) }
    var ordered = groups.merged.map { (entry: Self.entry(of: $0), ids: $0.map(\.id)) }
      .sorted { Self.precedes($0.entry, $1.entry) }
    let names = Set(evidence.filter { $0.source.name == chosen }.map(\.id))
    manual = names.isEmpty ? 0 : 1
    if let index = ordered.firstIndex(where: { !names.isDisjoint(with: $0.ids) }) {
      var group = ordered.remove(at: index)
      group.entry.isChosen = true
      ordered.insert(group, at: 0)
    }
    ordered.insert((entry: Entry(name: "manual", sourceClass: .manual, first: nil), ids: []), at: manual)
    var ranks: [Int64: Int] = [:]
    for (index, group) in ordered.enumerated() {
      for id in group.ids { ranks[id] = index }
    }
    self.ranks = ranks
    ranksBySource = Dictionary(
      evidence.compactMap { one in ranks[one.id].map { (one.source, $0) } }, uniquingKeysWith: min)
    sources = ordered.map(\.entry)
    ids = ordered.map(\.ids)
  }

  /// Creates the ranking of a type from the whole store and its settings. Devices are read only if there are several
  /// sources.
  init(of type: SampleType, _ reader: NumberReader) throws {
    try self.init(of: try reader.sources(of: type), reader, first: try reader.settings().firstSources[type])
  }

  init(
    of sources: [(id: Int64, source: Source, first: Int64)], _ reader: NumberReader, first chosen: String?
  ) throws {
    let devices = sources.count > 1 ? try reader.devices(ofSources: sources.map(\.id)) : [:]
    self.init(
      sources.map {
        SourceEvidence(
          id: $0.id, source: $0.source, first: Timestamp(microseconds: $0.first), devices: devices[$0.id] ?? [:])
      }, first: chosen)
  }

  /// The ranks alone.
  var table: RankTable { RankTable(names: sources.map(\.name), ranks: ranks, manual: manual) }

  /// Returns the index in ``sources`` of a sample's source. An unknown source ranks last.
  public func rank(of id: Int64, isUserEntered: Bool) -> Int {
    table.rank(of: id, isUserEntered: isUserEntered)
  }

  /// Returns the index of a source in ``sources``. An unknown source ranks last.
  public func rank(of source: Source) -> Int { knownRank(of: source) ?? sources.count - 1 }

  /// Returns the index of a source in ``sources``, or `nil` if it has no samples of the type.
  func knownRank(of source: Source) -> Int? { ranksBySource[source] }

  private static func precedes(_ one: Entry, _ other: Entry) -> Bool {
    if one.sourceClass != other.sourceClass { return one.sourceClass < other.sourceClass }
    if one.first != other.first { return one.first.map { first in other.first.map { first > $0 } ?? true } ?? false }
    return one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
  }

  /// Returns the entry of a group of records of the same source.
  ///
  /// - Parameter group: not empty.
  private static func entry(of group: [SourceEvidence]) -> Entry {
    // The most recent name of the source.
    let name = group.max { ($0.first, $1.source.name) < ($1.first, $0.source.name) }?.source.name ?? ""
    return Entry(name: name, sourceClass: sourceClass(of: group), first: group.map(\.first).min())
  }

  /// Returns the class of a source. Apple's own sources have a bundle identifier under `com.apple.health.`. In an
  /// export, which has no identifiers, they are recognized by an Apple device whose software version equals that of
  /// the source, because a third-party app has a version of its own.
  private static func sourceClass(of group: [SourceEvidence]) -> SourceClass {
    var (watches, phones, others) = (0, 0, 0)
    for one in group {
      for (device, count) in one.devices {
        switch Hardware(device, version: one.source.version) {
        case .watch: watches += count
        case .phone: phones += count
        case nil: others += count
        }
      }
    }
    let isApples = group.contains { $0.source.bundleIdentifier?.hasPrefix("com.apple.health.") == true }
    let isForeign = group.contains { $0.source.bundleIdentifier != nil } && !isApples
    guard isApples || !isForeign && watches + phones > others else { return .app }
    if watches + phones > 0 { return watches > phones ? .watch : .phone }
    return group.contains { $0.source.name.contains("Watch") } ? .watch : .phone
  }

  private enum Hardware {
    case watch, phone

    init?(_ device: Device?, version: String?) {
      guard let device, version == nil || device.softwareVersion == nil || version == device.softwareVersion else {
        return nil
      }
      let words = [device.model, device.name].compactMap(\.self)
      if words.contains(where: { $0 == "Watch" || $0 == "Apple Watch" }) {
        self = .watch
      } else if words.contains(where: { $0.hasPrefix("iPhone") || $0.hasPrefix("iPad") || $0.hasPrefix("iPod") }) {
        self = .phone
      } else {
        return nil
      }
    }
  }
}

/// The ranks of sources, starting at 0, and their names.
struct RankTable: Hashable, Sendable {
  /// The names of the sources, indexed by rank.
  var names: [String]
  /// The ranks by ``SourceEvidence/id``.
  var ranks: [Int64: Int]
  /// The rank of manual entries.
  var manual: Int

  /// Returns the rank of a sample's source. An unknown source ranks last.
  func rank(of id: Int64, isUserEntered: Bool) -> Int { isUserEntered ? manual : ranks[id] ?? names.count - 1 }
}

/// Groups of records that share a name or a bundle identifier, directly or through other records.
private struct SourceGroups {
  private enum Mark: Hashable {
    case name(String), bundleIdentifier(String)
  }

  private var groups: [[SourceEvidence]] = []
  private var places: [Mark: Int] = [:]

  var merged: [[SourceEvidence]] { groups.filter { !$0.isEmpty } }

  mutating func add(_ one: SourceEvidence) {
    let marks = [Mark.name(one.source.name)] + (one.source.bundleIdentifier.map { [.bundleIdentifier($0)] } ?? [])
    let known = Set(marks.compactMap { places[$0] }).sorted()
    guard let place = known.first else {
      for mark in marks { places[mark] = groups.count }
      return groups.append([one])
    }
    groups[place].append(one)
    for mark in marks { places[mark] = place }
    for other in known.dropFirst() {
      for (mark, index) in places where index == other { places[mark] = place }
      groups[place] += groups[other]
      groups[other] = []
    }
  }
}
