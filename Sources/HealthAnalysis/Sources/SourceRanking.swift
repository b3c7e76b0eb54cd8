import HealthModel
import HealthStore

/// Which kind of source recorded something, from the highest rank to the lowest.
public enum SourceClass: Int, Hashable, Sendable, Comparable {
  /// A person typed it (`HKMetadataKeyWasUserEntered`).
  case manual
  /// An Apple Watch.
  case watch
  /// An iPhone, iPad or iPod.
  case phone
  /// Everything else, on whatever device.
  case app

  public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// What a store knows of one of its sources.
public struct SourceEvidence: Hashable, Sendable {
  /// How the store names it.
  public var id: Int64
  public var source: Source
  /// The start of its first sample of the type that is ranked, in the whole store.
  public var first: Timestamp
  /// How many of its samples, of all types, a device measured.
  public var devices: [Device?: Int]

  /// - Parameter id: no two have the same.
  public init(id: Int64, source: Source, first: Timestamp, devices: [Device?: Int] = [:]) {
    self.id = id
    self.source = source
    self.first = first
    self.devices = devices
  }
}

/// The order in which sources count where several have recorded the same time: each counts only where none above it has
/// data, as HealthKit merges them (https://support.apple.com/en-us/108779).
///
/// ```swift
/// let watch = SourceEvidence(
///   id: 1, source: Source(name: "Watch", bundleIdentifier: "com.apple.health.A"), first: Timestamp(seconds: 0))
/// let app = SourceEvidence(id: 2, source: Source(name: "Pedometer"), first: Timestamp(seconds: 9))
/// print(SourceRanking([app, watch]).sources.map(\.name))  // ["manual", "Watch", "Pedometer"]
/// ```
public struct SourceRanking: Hashable, Sendable {
  /// One source, under all of the names that the store has for it.
  public struct Entry: Hashable, Sendable {
    /// As people see it.
    public var name: String
    public var sourceClass: SourceClass
    /// The start of its first sample of the type; `nil` for what was typed, which is first whenever it was.
    public var first: Timestamp?
    /// Whether the person wants it before all others.
    public var isChosen = false
  }

  /// From the highest to the lowest. What people typed, of whatever source, is one of them: the first but for one that was chosen.
  public let sources: [Entry]
  /// By rank, the ``SourceEvidence/id``s of those that are one source; none of what people typed.
  let ids: [[Int64]]
  /// Of what people typed.
  private let manual: Int
  /// Ranks of sources, by ``SourceEvidence/id``.
  private let ranks: [Int64: Int]
  private let ranksBySource: [Source: Int]

  /// Watches come before phones, phones before apps; in a class the one whose first sample is newest, and then by name. What
  /// has a name or a bundle identifier in common is one source: exports have only the one, apps on phones both.
  ///
  /// - Parameter chosen: the name of one that comes before all others, also before what was typed; `nil` for none. A name that
  ///   none of them has changes nothing.
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

  /// Of all that a store has of a type, as its settings want it. Devices are asked for only where there is something to rank.
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

  /// For whoever only asks for ranks.
  var table: RankTable { RankTable(names: sources.map(\.name), ranks: ranks, manual: manual) }

  /// The index in ``sources`` of the source of a sample; one that is not known comes last.
  public func rank(of id: Int64, isUserEntered: Bool) -> Int {
    table.rank(of: id, isUserEntered: isUserEntered)
  }

  /// The index in ``sources``; one that is not known comes last.
  public func rank(of source: Source) -> Int { knownRank(of: source) ?? sources.count - 1 }

  /// The index in ``sources``; `nil` of one that has no sample of the type.
  func knownRank(of source: Source) -> Int? { ranksBySource[source] }

  private static func precedes(_ one: Entry, _ other: Entry) -> Bool {
    if one.sourceClass != other.sourceClass { return one.sourceClass < other.sourceClass }
    if one.first != other.first { return one.first.map { first in other.first.map { first > $0 } ?? true } ?? false }
    return one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
  }

  /// - Parameter group: never empty.
  private static func entry(of group: [SourceEvidence]) -> Entry {
    // The name that it had last.
    let name = group.max { ($0.first, $1.source.name) < ($1.first, $0.source.name) }?.source.name ?? ""
    return Entry(name: name, sourceClass: sourceClass(of: group), first: group.map(\.first).min())
  }

  /// Apple's own are told by their bundle identifiers; in an export, which has none, by devices that are Apple's and run the
  /// version that the source says: a third-party app has a version of its own.
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

/// The ranks of sources, from 0, and what people call them.
struct RankTable: Hashable, Sendable {
  /// By rank.
  var names: [String]
  /// By ``SourceEvidence/id``.
  var ranks: [Int64: Int]
  /// Of what people typed.
  var manual: Int

  /// One that is not known comes last.
  func rank(of id: Int64, isUserEntered: Bool) -> Int { isUserEntered ? manual : ranks[id] ?? names.count - 1 }
}

/// Sources that have a name or a bundle identifier in common, directly or by way of others.
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
