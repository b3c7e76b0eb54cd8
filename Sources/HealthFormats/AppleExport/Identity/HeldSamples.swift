import HealthModel

/// A store of samples whose keys may not be unique. They are held back until the whole file has been read and they
/// can be ranked.
struct HeldSamples {
  /// A member of a correlation: a reference if its identity is known, or else an index into ``nested``.
  enum Member {
    case known(SampleReference, rank: String)
    case held(Int)
  }

  private struct Correlation {
    var sample: Sample
    var key: SampleKey
    var members: [Member]
    var ordinal = 0
  }

  private struct Nested {
    var sample: Sample
    var key: SampleKey
    var rank: SampleRank
    /// The index of the correlation that contains the record.
    var parent: Int
    var ordinal = 0
  }

  /// The samples outside correlations, encoded to save memory, because a file may repeat all of its records.
  private var coder = ChangeCoder()
  /// The keys of the samples in ``coder``.
  private var keys: [SampleKey] = []
  /// The number of samples with the same key, by the key's hash.
  private var alike: [Int: Int] = [:]
  private static let mostAlike = 100_000
  private var correlations: [Correlation] = []
  private var nested: [Nested] = []

  /// Adds a sample outside correlations.
  ///
  /// - Throws: `EncodingError` for a sample that cannot be written as JSON, and ``ImportError/tooManyAlike(limit:)``
  ///   if more samples share a key than in any real export. All of them stay in memory until the end of the file.
  mutating func add(_ sample: Sample, key: SampleKey) throws {
    var hasher = Hasher()
    key.hash(into: &hasher)
    let place = hasher.finalize()
    alike[place, default: 0] += 1
    guard alike[place, default: 0] <= Self.mostAlike else { throw ImportError.tooManyAlike(limit: Self.mostAlike) }
    try coder.add(sample)
    keys.append(key)
  }

  /// Adds a correlation and the members whose identity is not known yet.
  ///
  /// - Parameter members: all members; the key is `nil` for a member whose identity is known.
  mutating func add(_ sample: Sample, key: SampleKey, members: [(sample: Sample, key: SampleKey?)]) {
    let parent = correlations.count
    let references = members.map { member -> Member in
      let rank = SampleRank(member.sample)
      guard let key = member.key else { return .known(member.sample.reference, rank: rank.text) }
      nested.append(Nested(sample: member.sample, key: key, rank: rank, parent: parent))
      return .held(nested.count - 1)
    }
    correlations.append(Correlation(sample: sample, key: key, members: references))
  }

  /// Delivers all held samples in an order that does not depend on the file. Samples with equal keys are delivered as
  /// groups. Correlations, and samples whose key also occurs in a correlation, are delivered singly, with their ranks
  /// as ordinals.
  ///
  /// - Returns: the number of samples that share their key with another.
  consuming func resolve(
    group: (TwinGroup) throws -> Void, sample: (Sample) throws -> Void
  ) throws -> Int {
    var equalKeys = 0
    var ranks: [SampleKey: [SampleRank]] = [:]
    let wanted = Set(nested.map(\.key))
    let (changes, keys) = (coder.changes, keys)
    let order = keys.indices.sorted { SampleKey.precedes(keys[$0], keys[$1]) }
    var start = 0
    while start < order.count {
      let key = keys[order[start]]
      let end = order[start...].firstIndex { SampleKey.precedes(key, keys[$0]) } ?? order.count
      let equals = try order[start..<end].map { try changes.sample(changes.samples[$0]) }
      start = end
      if equals.count > 1 { equalKeys += equals.count }
      let ranked = TwinGroup(key: key, samples: equals.count == 1 ? equals : Self.ranked(equals))
      if wanted.contains(key) {
        ranks[key] = ranked.samples.map { SampleRank($0) }
        for twin in ranked.byRank() { try sample(twin) }
      } else {
        try group(ranked)
      }
    }
    equalKeys += rankCorrelations()
    rankNested(among: ranks)
    for index in nested.indices {
      nested[index].sample.uuid = nested[index].key.uuid(ordinal: nested[index].ordinal)
      try sample(nested[index].sample)
    }
    for correlation in correlations {
      var parent = correlation.sample
      parent.payload = .correlation(
        HealthModel.Correlation(
          members: correlation.members.map { member in
            switch member {
            case .known(let reference, _): reference
            case .held(let index): nested[index].sample.reference
            }
          }))
      parent.uuid = correlation.key.uuid(ordinal: correlation.ordinal)
      try sample(parent)
    }
    return equalKeys
  }

  private static func ranked(_ group: [Sample]) -> [Sample] {
    SampleRank.order(group.map { SampleRank($0) }) { group[$0] }.map { group[$0] }
  }

  /// Assigns ordinals to correlations with equal keys.
  ///
  /// - Returns: the number of correlations that share their key with another.
  private mutating func rankCorrelations() -> Int {
    var equalKeys = 0
    for group in Dictionary(grouping: correlations.indices, by: { correlations[$0].key }).values where group.count > 1 {
      equalKeys += group.count
      let ranks = group.map { index in
        let members = correlations[index].members.map { member in
          switch member {
          case .known(let reference, let rank): "\(reference.type)\u{1F}\(rank)"
          case .held(let nested): "\(self.nested[nested].key.type)\u{1F}\(self.nested[nested].rank.text)"
          }
        }
        return SampleRank(correlations[index].sample, members: members)
      }
      let order = SampleRank.order(ranks) { correlations[group[$0]].sample }
      for (ordinal, index) in order.enumerated() { correlations[group[index]].ordinal = ordinal }
    }
    return equalKeys
  }

  /// Gives each nested record the ordinal of its top-level twin: one with equal content, else one with an equal
  /// value, else an ordinal after those of all twins.
  private mutating func rankNested(among ranks: [SampleKey: [SampleRank]]) {
    for (key, group) in Dictionary(grouping: nested.indices, by: { nested[$0].key }) {
      let order = group.sorted { a, b in
        if nested[a].rank != nested[b].rank { return nested[a].rank < nested[b].rank }
        let (parentA, parentB) = (correlations[nested[a].parent], correlations[nested[b].parent])
        if parentA.key == parentB.key { return parentA.ordinal < parentB.ordinal }
        return SampleKey.precedes(parentA.key, parentB.key)
      }
      let twins = ranks[key] ?? []
      let equals = Dictionary(grouping: twins.indices, by: { twins[$0].text })
      var used: [String: Int] = [:]
      var isTaken = Array(repeating: false, count: twins.count)
      var unmatched: [Int] = []
      for index in order {
        let text = nested[index].rank.text
        guard let equal = equals[text] else {
          unmatched.append(index)
          continue
        }
        let twin = equal[min(used[text, default: 0], equal.count - 1)]
        used[text, default: 0] += 1
        isTaken[twin] = true
        nested[index].ordinal = twin
      }
      var free = Dictionary(grouping: twins.indices.reversed().filter { !isTaken[$0] }, by: { twins[$0].value })
      var next = twins.count
      for index in unmatched {
        if let twin = free[nested[index].rank.value]?.popLast() {
          nested[index].ordinal = twin
        } else {
          nested[index].ordinal = next
          next += 1
        }
      }
    }
  }
}

extension SampleKey {
  /// Returns whether `a` comes before `b`, in an order that does not depend on the file.
  fileprivate static func precedes(_ a: SampleKey, _ b: SampleKey) -> Bool {
    if a.start != b.start { return a.start < b.start }
    if a.end != b.end { return a.end < b.end }
    if a.created != b.created { return a.created ?? .min < b.created ?? .min }
    return (a.kind, a.type.rawValue, a.source) < (b.kind, b.type.rawValue, b.source)
  }
}
