import Foundation
import HealthModel
import HealthStore
import TestSupport

/// A model of a store's behaviour, built from dictionaries.
struct StoreModel {
  private(set) var counter: Int64 = 0
  private var live: [SampleReference: (change: Int64, sample: Sample)] = [:]
  private var tombstones: [SampleReference: (change: Int64, tombstone: Tombstone)] = [:]
  /// The sources of deleted samples, as far as the store can know them.
  private var sources: [SampleReference: String] = [:]

  mutating func apply(_ batch: ChangeBatch) -> WriteSummary {
    var summary = WriteSummary()
    for tombstone in batch.deletions {
      let removed = live.removeValue(forKey: tombstone.sample)
      let wasHere = removed != nil
      if sources[tombstone.sample] == nil {
        sources[tombstone.sample] = tombstone.source ?? removed?.sample.source.name
      }
      summary.add(wasHere ? .init(deleted: 1) : .init(unchanged: 1), of: tombstone.sample.type)
      var told = tombstones[tombstone.sample]?.tombstone ?? tombstone
      // Of two deletions the earlier time is told, and the lesser hint.
      told.deleted = min(told.deleted, tombstone.deleted)
      told.hint = [told.hint, tombstone.hint].compactMap(\.self).min()
      if let known = tombstones[tombstone.sample]?.tombstone, known == told { continue }
      counter += 1
      tombstones[tombstone.sample] = (counter, told)
    }
    for sample in batch.additions {
      if live[sample.reference] != nil {
        summary.add(.init(unchanged: 1), of: sample.type)
      } else if tombstones[sample.reference] != nil {
        summary.add(.init(refused: 1), of: sample.type)
      } else {
        counter += 1
        live[sample.reference] = (counter, sample)
        summary.add(.init(added: 1), of: sample.type)
      }
    }
    return summary
  }

  /// Returns the references that a deletion of a range affects. The store gives their tombstones an order of its own.
  func references(of type: SampleType, in range: Range<Timestamp>) -> Set<SampleReference> {
    Set(live.keys.filter { $0.type == type && range.contains($0.start) })
  }

  func changes(since anchor: Anchor, filter: SampleFilter) -> [(change: Int64, value: Change)] {
    let additions = live.values.map { (change: $0.change, value: Change.added($0.sample)) }
    let deletions = tombstones.values.map { (change: $0.change, value: Change.deleted($0.tombstone)) }
    return (additions + deletions)
      .filter { $0.change > anchor.change && accepts($0.value, filter) }
      .sorted { $0.change < $1.change }
  }

  private func accepts(_ change: Change, _ filter: SampleFilter) -> Bool {
    let source =
      switch change {
      case .added(let sample): sample.source.name
      case .deleted(let tombstone): sources[tombstone.sample]
      }
    return filter.accepts(change.reference) && filter.sources.map { source.map($0.contains) ?? false } ?? true
  }

  func typeCounts(_ filter: SampleFilter = .everything) -> [TypeCount] {
    let samples = live.values.map(\.sample).filter { accepts(.added($0), filter) }
    return Dictionary(grouping: samples, by: \.type)
      .map { TypeCount(type: $0, samples: $1.count) }
      .sorted { $0.type.rawValue.utf8.lexicographicallyPrecedes($1.type.rawValue.utf8) }
  }

  func newestFirst(_ type: SampleType) -> [Sample] {
    live.values.map(\.sample).filter { $0.type == type }.sorted {
      ($0.start, $0.uuid.uuidString) > ($1.start, $1.uuid.uuidString)
    }
  }
}

extension SampleFilter {
  func accepts(_ reference: SampleReference) -> Bool {
    // In whole seconds.
    let second = Timestamp(seconds: reference.start.seconds)
    return types?.contains(reference.type) ?? true && earliest.map { second >= $0 } ?? true
      && end.map { second < $0 } ?? true
  }
}

/// A small set of samples, so that random additions and deletions often affect the same sample.
struct SmallWorld {
  static let sources = ["Robin's Watch, 44 mm", "phone", ""]

  let samples: [Sample]
  let types: [SampleType]

  /// - Parameter months: The number of months over which the samples are spread.
  init(size: Int = 60, months: Int = 1) {
    var maker = SampleMaker(seed: 7)
    let types = [
      SampleMaker.stepCount, SampleType("HKQuantityTypeIdentifierHeartRate"), SampleType("of.tomorrow 😴"),
      SampleType(""),
    ]
    self.types = types
    samples = (0..<size).map { number in
      var sample = maker.steps(at: number % 7 + number % months * 44_640)
      sample.type = types[number % types.count]
      sample.source.name = Self.sources[number / 2 % Self.sources.count]
      return sample
    }
  }

  func batch(_ random: inout SeededGenerator, upTo size: Int = 8) -> ChangeBatch {
    var batch = ChangeBatch()
    for _ in 0..<Int.random(in: 0...size, using: &random) { batch.additions.append(random.pick(samples)) }
    if random.oneIn(2) {
      for _ in 0..<Int.random(in: 0...size / 3, using: &random) {
        let seconds = Int64.random(in: 0...1_000_000_000, using: &random)
        batch.deletions.append(random.pick(samples).tombstone(deleted: Timestamp(seconds: seconds)))
      }
    }
    return batch
  }

  func filter(_ random: inout SeededGenerator) -> SampleFilter {
    var filter = SampleFilter.everything
    if random.oneIn(2) {
      filter.types = Set((0..<Int.random(in: 0...3, using: &random)).map { _ in random.pick(types) })
      if random.oneIn(4) { filter.types?.insert(SampleType("never seen")) }
    }
    if random.oneIn(2) { filter.earliest = random.pick(samples).start }
    if random.oneIn(3) {
      let start = random.pick(samples).start
      let month = CalendarMonth(containing: start).instants.lowerBound
      filter.end = random.oneIn(3) ? month : Timestamp(microseconds: start.microseconds + (random.oneIn(2) ? 1 : 0))
    }
    if random.oneIn(3) {
      filter.sources = Set((0..<Int.random(in: 0...2, using: &random)).map { _ in random.pick(Self.sources) })
      if random.oneIn(4) { filter.sources?.insert("never seen") }
    }
    return filter
  }
}
