import HealthModel
import HealthStore

/// The receiving side of a consumer, which stores what it is given and detects duplicates.
struct Mirror {
  private(set) var samples: [SampleReference: Sample] = [:]
  /// The number of additions that were identical to samples it already had.
  private(set) var repetitions = 0
  private(set) var startedOver = 0
  private(set) var receipt: ConsumerReceipt?
  /// The samples that may come again, because their page wasn't committed.
  private var uncertain: Set<SampleReference> = []

  mutating func take(_ page: ConsumerPage, isCommitted: Bool = true) throws {
    if page.startsOver {
      startedOver += 1
      samples = [:]
      uncertain = []
    }
    for tombstone in page.deletions { samples[tombstone.sample] = nil }
    for sample in try page.additions() {
      if samples[sample.reference] == sample, uncertain.remove(sample.reference) == nil { repetitions += 1 }
      samples[sample.reference] = sample
      if !isCommitted { uncertain.insert(sample.reference) }
    }
    receipt = page.receipt
  }

  /// Expects samples that a store delivers again, as after undoing an import.
  mutating func expectAgain(_ references: some Sequence<SampleReference>) { uncertain.formUnion(references) }

  /// Takes all pending pages.
  mutating func catchUp(_ consumer: FeedConsumer, ofAtMost size: Int = 1_000) async throws {
    for try await page in consumer.pages(ofAtMost: size) {
      try take(page)
      try await consumer.commit(page)
    }
  }
}

extension HealthStore {
  /// Returns the samples that a consumer should have.
  func live(_ filter: SampleFilter = .everything) async throws -> [SampleReference: Sample] {
    var live: [SampleReference: Sample] = [:]
    for case .added(let sample) in try await allChanges() where filter.passes(sample) {
      live[sample.reference] = sample
    }
    return live
  }
}
