import HealthModel

/// Samples whose key may not be theirs alone, held back until the file has been read and they can be ranked.
struct HeldSamples {
  /// A member of a correlation: known, or one of ``nested``.
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
    /// The correlation that it is in.
    var parent: Int
    var ordinal = 0
  }

  /// Those that stand by themselves, in coded form: a file may repeat all that it says.
  private var coder = ChangeCoder()
  /// Of the samples in ``coder``.
  private var keys: [SampleKey] = []
  /// How many there are of each key, by its hash.
  private var alike: [Int: Int] = [:]
  private static let mostAlike = 100_000
  private var correlations: [Correlation] = []
  private var nested: [Nested] = []

  /// Throws `EncodingError` for a sample that cannot be written as JSON.
  ///
  /// Throws ``ImportError/tooManyAlike(limit:)``, too: nobody's export says one thing of one time so often, and all of them are kept
  /// until its end.
  mutating func add(_ sample: Sample, key: SampleKey) throws {
    var hasher = Hasher()
    key.hash(into: &hasher)
    let place = hasher.finalize()
    alike[place, default: 0] += 1
    guard alike[place, default: 0] <= Self.mostAlike else { throw ImportError.tooManyAlike(limit: Self.mostAlike) }
    try coder.add(sample)
    keys.append(key)
  }

  /// Adds a correlation and those of its members whose identity is open.
  ///
  /// - Parameter members: each member, and the key of one whose identity is not known already.
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

  /// Hands out all held samples, in an order that does not depend on the file: groups of equal keys as such, and with
  /// their ranks as ordinals those of which a correlation speaks, and correlations themselves.
  ///
  /// - Returns: how many samples share their key with another.
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

  /// - Returns: how many correlations share their key with another.
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

  /// Gives each nested record the ordinal of its twin at the top level: one that says the same, else one of the same
  /// value, else an ordinal after all twins.
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
  /// An order that does not depend on the file.
  fileprivate static func precedes(_ a: SampleKey, _ b: SampleKey) -> Bool {
    if a.start != b.start { return a.start < b.start }
    if a.end != b.end { return a.end < b.end }
    if a.created != b.created { return a.created ?? .min < b.created ?? .min }
    return (a.kind, a.type.rawValue, a.source) < (b.kind, b.type.rawValue, b.source)
  }
}
