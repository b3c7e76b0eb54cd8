import GRDB
import HealthModel
import HealthStore

/// The ranking under which a type's cells were computed.
struct KeptRanking: Hashable, Codable {
  /// A source in the ranking.
  struct Entry: Hashable, Codable {
    var name: String
    /// The store's identifiers of the source, ascending, or ``KeptRanking/manual`` for manual entries.
    var ids: [Int64]
  }

  var entries: [Entry]
  /// The name of the source that the person has chosen as the first, or `nil` for none.
  var chosen: String?

  init(_ ranking: SourceRanking, chosen: String?) {
    entries = zip(ranking.sources, ranking.ids).map {
      Entry(name: $0.name, ids: $1.isEmpty ? [Self.manual] : $1.sorted())
    }
    self.chosen = chosen
  }

  /// The identifier of manual entries of all sources, which no source has.
  static let manual: Int64 = 0

  /// Returns the identifier by which a cell names the source of a rank.
  func name(ofRank rank: Int) -> Int64 { entries[rank].ids.first ?? Self.manual }

  var table: RankTable {
    var ranks: [Int64: Int] = [:]
    for (rank, entry) in entries.enumerated() {
      for id in entry.ids { ranks[id] = rank }
    }
    return RankTable(names: entries.map(\.name), ranks: ranks, manual: ranks[Self.manual] ?? 0)
  }

  /// Returns whether all sources of an older ranking have the same order in this one, so that cells computed under
  /// the older ranking are still valid.
  func keeps(_ older: KeptRanking) -> Bool {
    let known = Set(older.entries.flatMap(\.ids))
    let now = entries.map { $0.ids.filter(known.contains) }.filter { !$0.isEmpty }
    return now == older.entries.map(\.ids).filter { !$0.isEmpty }
  }
}

/// The information in a rollup file about the sources of samples.
struct KeptEvidence {
  let db: Database
  let reader: NumberReader

  /// Returns the current ranking of a type's sources.
  func ranking(of type: KeptType) throws -> KeptRanking {
    let chosen = try reader.settings().firstSources[type.type]
    return KeptRanking(SourceRanking(try evidence(ofType: type.id), first: chosen), chosen: chosen)
  }

  /// Returns the current rankings of types.
  ///
  /// - Parameter types: the types, with `nil` for those that the file does not contain.
  func rankings(of types: [SampleType: KeptType?]) throws -> [SampleType: SourceRanking] {
    let chosen = try reader.settings().firstSources
    return try Dictionary(
      uniqueKeysWithValues: types.map { type, kept in
        (type, SourceRanking(try kept.map { try evidence(ofType: $0.id) } ?? [], first: chosen[type]))
      })
  }

  private func evidence(ofType type: Int64) throws -> [SourceEvidence] {
    let firsts = try Row.fetchAll(
      db, sql: "SELECT source, MIN(first) FROM evidence WHERE type = ? GROUP BY source", arguments: [type])
    return try evidence(firsts.map { ($0[0], $0[1]) })
  }

  private func evidence(_ firsts: [(source: Int64, first: Int64)]) throws -> [SourceEvidence] {
    try firsts.map { source, first in
      SourceEvidence(
        id: source, source: try reader.spans.source(source), first: Timestamp(microseconds: first),
        devices: firsts.count > 1 ? try devices(of: source) : [:])
    }
  }

  /// Returns a summary for each source of a type, or of all types, from the highest rank to the lowest.
  func summaries(of type: SampleType?) throws -> [SourceSummary] {
    // Characteristics such as the date of birth are not recordings, and their time is 1970.
    var condition = "type NOT IN (SELECT id FROM type WHERE name GLOB 'HKCharacteristicTypeIdentifier*')"
    var arguments: StatementArguments = []
    if let type {
      condition = "type = (SELECT id FROM type WHERE name = ?)"
      arguments = [type.rawValue]
    }
    let counts = try Row.fetchAll(
      db,
      sql: """
        SELECT source, isUserEntered, SUM(samples), MIN(first), MAX(last) FROM evidence WHERE \(condition)
        GROUP BY source, isUserEntered
        """, arguments: arguments
    ).map { row in
      NumberReader.SourceCount(
        id: row[0], source: try reader.spans.source(row[0]), isUserEntered: row[1], samples: row[2],
        starts: (row[3] as Int64)...(row[4] as Int64))
    }
    let chosen = try type.flatMap { try reader.settings().firstSources[$0] }
    let ranking = SourceRanking(try evidence(counts.firsts), first: chosen)
    return SourceSurvey.summaries(counts, ranking)
  }

  private func devices(of source: Int64) throws -> [Device?: Int] {
    let rows = try Row.fetchAll(
      db, sql: "SELECT device, samples FROM measured WHERE source = ? AND samples > 0", arguments: [source])
    var devices: [Device?: Int] = [:]
    for row in rows {
      let id: Int64 = row[0]
      devices[id == 0 ? nil : try reader.spans.device(id), default: 0] += row[1]
    }
    return devices
  }

  /// Replaces the information about some days of a type.
  func replace(_ found: [SpanReader.Recorded], ofType type: Int64, days: ClosedRange<Int64>) throws {
    let range: StatementArguments = [type, days.lowerBound, days.upperBound]
    let before = try Row.fetchAll(
      db,
      sql: "SELECT source, device, SUM(samples) FROM evidence WHERE type = ? AND day BETWEEN ? AND ? GROUP BY 1, 2",
      arguments: range)
    for row in before { try count(row[0], row[1], -(row[2] as Int64)) }
    try db.execute(sql: "DELETE FROM evidence WHERE type = ? AND day BETWEEN ? AND ?", arguments: range)
    let insertion = try db.cachedStatement(
      sql: """
        INSERT INTO evidence(type, day, source, device, isUserEntered, samples, first, last) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """)
    var measured: [Pair: Int64] = [:]
    for one in found {
      try insertion.execute(arguments: [
        type, one.stretch, one.source, one.device ?? 0, one.isUserEntered, one.samples, one.starts.lowerBound,
        one.starts.upperBound,
      ])
      measured[Pair(source: one.source, device: one.device ?? 0), default: 0] += Int64(one.samples)
    }
    for (pair, samples) in measured { try count(pair.source, pair.device, samples) }
    try db.execute(sql: "UPDATE history SET evidence = evidence + 1")
  }

  private struct Pair: Hashable {
    var source: Int64
    var device: Int64
  }

  private func count(_ source: Int64, _ device: Int64, _ change: Int64) throws {
    try db.cachedStatement(
      sql: """
        INSERT INTO measured(source, device, samples) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET samples = samples + excluded.samples
        """
    ).execute(arguments: [source, device, change])
  }
}
