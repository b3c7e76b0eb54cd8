import Foundation
import GRDB
import HealthModel

/// A reader of the samples and tombstones of one type and one second, which decides by ``CountingRule`` which samples
/// are hidden.
struct SecondReader {
  /// The maximum number of samples of one type in one second, from all sources. If there are more, which only a
  /// malicious machine sends, all are shown.
  static let maximumSamples = 256

  private let db: Database
  private let names: TypeNames
  private var units = StoredDictionary.units
  private var kinds = StoredDictionary.kinds
  private var sources = StoredDictionary.sourceNames
  /// An index of source names, because several sources may have the same name.
  private var sourceIndex = ExactIndex<String>()
  /// The source name of Health Auto Export's workouts. The app does not report their source.
  static let noSource = "Health Auto Export"

  init(_ db: Database) {
    self.db = db
    names = TypeNames(db)
  }

  struct Group: Hashable {
    /// The index of the name among the reader's source names.
    var source: UInt32
    /// The second of the end, or 0 if there is a ``period``.
    var end: Int64
    /// The period of a reading (``SampleIdentity/uuid(ofReading:sender:)``), or `nil` for other samples.
    var period: String?
  }

  /// A stored sample.
  struct StoredSample {
    var change: Int64
    var start: Int64
    var uuid: UUID
    /// The index of the source's name.
    let name: UInt32
    var group: Group
    var value: StatedValue
    var valueClass = 0
    /// Whether the sample is hidden according to the table.
    var isHidden: Bool
    /// Whether the sample has to be hidden.
    var shouldHide = false
    /// The family of the sample. A restored copy has the family of the deleted sample.
    var family: CountingRule.Family
    /// The time and period of a reading, or `nil` for other samples.
    var said: ReadingChoice.Said?
  }

  /// A tombstone.
  struct Deletion {
    var uuid: UUID
    var road: SampleRoad
    var hint: UInt8?
    /// The index of the source's name.
    let name: UInt32?
    /// The group, or `nil` for a tombstone without details of the deleted sample.
    var group: Group?

    var family: CountingRule.Family { .init(uuid, road: road) }
    var counted: CountingRule.Deletion { .init(family: family, hint: hint) }
  }

  /// The samples and deletions of one second.
  struct Second {
    var samples: [StoredSample]
    /// The deletions that count: those of samples that exist in no form.
    var gone: [Deletion] = []

    /// Returns a shown sample with the content of a hidden one.
    func shown(insteadOf hidden: StoredSample) -> StoredSample? {
      samples.first { !$0.shouldHide && $0.group == hidden.group && $0.valueClass == hidden.valueClass }
    }
  }

  /// Returns the samples of a type that start in the same second as `start`, with their correct visibility.
  ///
  /// - Parameter limit: the maximum number of samples to read. If there are more than ``maximumSamples``, all are
  ///   shown.
  mutating func read(_ type: Int64, _ start: Timestamp, limit: Int = maximumSamples + 1) throws -> Second {
    var second = Second(samples: try samples(type, start, limit: limit))
    guard second.samples.count <= Self.maximumSamples, var deletions = try deletions(type, start) else { return second }
    let name = try names.name(type)
    let lines = RestorationLines(deletions.map(\.uuid), present: second.samples.map(\.uuid))
    let families = Dictionary(deletions.map { ($0.uuid, $0.family) }) { first, _ in first }
    for index in second.samples.indices {
      let sample = second.samples[index]
      second.samples[index].family = lines.roots[sample.uuid].flatMap { families[$0] } ?? sample.family
    }
    deletions.removeAll { $0.group == nil || !lines.isGone($0.uuid) }
    joinRenamed(&second.samples, &deletions, name)
    if name == .workout { join(&second.samples, &deletions) }
    if name == .electrocardiogram { joinSources(&second.samples, &deletions) }
    second.gone = deletions
    for (group, indices) in Dictionary(grouping: second.samples.indices, by: { second.samples[$0].group }) {
      if group.period != nil {
        for hidden in ReadingChoice.hidden(indices.map { second.samples[$0] }) {
          second.samples[indices[hidden]].shouldHide = true
        }
        continue
      }
      let gone = second.gone.filter { $0.group == group }
      if indices.count == 1, gone.isEmpty { continue }
      let members = self.members(indices.map { second.samples[$0] }, hinted: !gone.isEmpty, name)
      for (member, index) in zip(members, indices) { second.samples[index].valueClass = member.valueClass }
      let rule = CountingRule(gone.map(\.counted))
      for hidden in rule.hidden(members) { second.samples[indices[hidden]].shouldHide = true }
    }
    return second
  }

  /// Returns the samples as members of their classes.
  private func members(_ samples: [StoredSample], hinted: Bool, _ type: SampleType) -> [CountingRule.Member] {
    var members = samples.map {
      CountingRule.Member(
        uuid: $0.uuid, family: $0.family, valueClass: 0, hints: hinted ? hints(of: $0, type) : nil)
    }
    classify(&members, samples.map(\.value))
    return members
  }

  /// Joins the groups of renamed sources with the same seconds of start and end.
  private mutating func joinRenamed(
    _ samples: inout [StoredSample], _ deletions: inout [Deletion], _ type: SampleType
  ) {
    let nameless = type == .workout ? sourceIndex.index(of: Self.noSource) : nil
    let counted = samples.indices.filter { samples[$0].group.period == nil }
    for (end, indices) in Dictionary(grouping: counted, by: { samples[$0].group.end }) {
      let gone = deletions.filter { $0.group?.end == end }
      let names = Set(indices.map { samples[$0].group.source } + gone.compactMap { $0.group?.source })
      guard names.count > 1 else { continue }
      let members = self.members(indices.map { samples[$0] }, hinted: !gone.isEmpty, type)
      var bearers = zip(indices, members).map { index, member in
        RenamedSources.Bearer(
          name: samples[index].group.source, family: member.family, classes: [member.valueClass])
      }
      bearers += gone.compactMap { deletion in
        deletion.group.map { group in
          RenamedSources.Bearer(
            name: group.source, family: deletion.family,
            classes: Set(members.filter { CountingRule.accepts(deletion.counted, $0.hints) }.map(\.valueClass)))
        }
      }
      let renamed = RenamedSources.representatives(among: bearers.filter { $0.name != nameless })
      for (old, new) in renamed {
        let group = Group(source: old, end: end)
        for index in indices where samples[index].group == group { samples[index].group.source = new }
        for index in deletions.indices where deletions[index].group == group { deletions[index].group?.source = new }
      }
    }
  }

  /// Moves a workout of unknown source into the group of the workouts, including deleted ones, that start and end in
  /// the same seconds, if all of those have one source.
  private mutating func join(_ samples: inout [StoredSample], _ deletions: inout [Deletion]) {
    let nameless = sourceIndex.index(of: Self.noSource)
    let groups = Set(samples.map(\.group) + deletions.compactMap(\.group)).filter { $0.source != nameless }
    let joined = Dictionary(grouping: groups, by: \.end).compactMapValues { $0.count == 1 ? $0.first : nil }
    func group(instead group: Group) -> Group { group.source == nameless ? joined[group.end] ?? group : group }
    for index in samples.indices { samples[index].group = group(instead: samples[index].group) }
    for index in deletions.indices { deletions[index].group = deletions[index].group.map(group) }
  }

  /// Joins all groups that end in the same second. An export names the model of a watch as the source of an
  /// electrocardiogram and an app the watch's name, and a person records only one at a time.
  private func joinSources(_ samples: inout [StoredSample], _ deletions: inout [Deletion]) {
    var sources: [Int64: UInt32] = [:]
    for group in samples.map(\.group) + deletions.compactMap(\.group) {
      sources[group.end] = min(sources[group.end] ?? group.source, group.source)
    }
    func group(instead group: Group) -> Group { Group(source: sources[group.end] ?? group.source, end: group.end) }
    for index in samples.indices where samples[index].group.period == nil {
      samples[index].group = group(instead: samples[index].group)
    }
    for index in deletions.indices { deletions[index].group = deletions[index].group.map(group) }
  }

  private func hints(of sample: StoredSample, _ type: SampleType) -> Set<UInt8>? {
    if case .quantity(let quantity) = sample.value { ValueHint.all(of: quantity, type) } else { nil }
  }

  /// Assigns a class to the members with equal values. Exported values are rounded, so other values are compared with
  /// those first.
  private func classify(_ members: inout [CountingRule.Member], _ values: [StatedValue]) {
    var representatives: [Int] = []
    let order = members.indices.sorted { members[$0].isShownBefore(members[$1]) }
    for index in order {
      let known = representatives.first { values[$0].isEquivalent(to: values[index]) }
      if known == nil { representatives.append(index) }
      members[index].valueClass = known ?? index
    }
  }

  private mutating func samples(_ type: Int64, _ start: Timestamp, limit: Int) throws -> [StoredSample] {
    var query = try Binding(
      db,
      """
      SELECT change, start, uuid, duration, source, kind, value, unit, payload, road, isHidden, created, metadata
      FROM sample LEFT JOIN visibility ON sample = change
      WHERE sample.type = ? AND start BETWEEN ? AND ? ORDER BY start, uuid LIMIT ?
      """)
    query.bind(type)
    query.bind(start.second)
    query.bind(Int64(limit))
    var samples: [StoredSample] = []
    try query.rows(db) { row in
      let kind = try kinds.value(of: row.integer(5), db)
      // A newer reading of these kinds replaces an older one.
      if Payload.kindsOneAtATime.contains(kind) { return true }
      // So many samples are shown whatever their values.
      let isTooMany = samples.count > Self.maximumSamples
      let (start, uuid) = (row.integer(1), try row.uuid(2))
      var group = try self.group(start: start, duration: row.integer(3), source: row.integer(4))
      var said: ReadingChoice.Said?
      if uuid.isOfReading, !isTooMany {
        let reading = try ReadingChoice.Said(
          start: start, end: start &+ row.integer(3), created: row.optionalInteger(11).map { start &+ $0 },
          number: row.optionalDouble(6), payload: row.text(8), metadata: row.text(12))
        (group.end, group.period) = (0, reading.period)
        said = reading
      }
      samples.append(
        StoredSample(
          change: row.integer(0), start: start, uuid: uuid, name: group.source, group: group,
          value: isTooMany
            ? .only
            : try StatedValue(
              kind: kind, number: row.optionalDouble(6),
              unit: try row.optionalInteger(7).map { try units.value(of: $0, db) }, payload: { row.text(8) }),
          isHidden: row.integer(10) != 0,
          family: .init(uuid, road: SampleRoad(stored: row.integer(9))), said: said))
      return true
    }
    return samples
  }

  /// Returns the deletions, or `nil` if there are too many.
  private mutating func deletions(_ type: Int64, _ start: Timestamp) throws -> [Deletion]? {
    var query = try Binding(
      db,
      "SELECT uuid, start, duration, source, road, hint FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? LIMIT ?"
    )
    query.bind(type)
    query.bind(start.second)
    query.bind(Int64(Self.maximumSamples + 1))
    var deletions: [Deletion] = []
    try query.rows(db) { row in
      var group: Group?
      // A deleted reading does not affect readings of other senders.
      if let duration = row.optionalInteger(2), let source = row.optionalInteger(3), try !row.uuid(0).isOfReading {
        group = try self.group(start: row.integer(1), duration: duration, source: source)
      }
      deletions.append(
        Deletion(
          uuid: try row.uuid(0), road: SampleRoad(stored: row.integer(4)),
          hint: row.optionalInteger(5).flatMap(UInt8.init(exactly:)), name: group?.source, group: group))
      return true
    }
    return deletions.count > Self.maximumSamples ? nil : deletions
  }

  private mutating func group(start: Int64, duration: Int64, source: Int64) throws -> Group {
    Group(
      source: sourceIndex.index(of: try sources.value(of: source, db)),
      end: Timestamp(microseconds: start &+ duration).seconds)
  }
}
