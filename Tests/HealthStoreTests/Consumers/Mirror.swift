import HealthModel
import HealthStore

/// A place that a consumer delivers to: has what it was given, and notices what it is given twice.
struct Mirror {
  private(set) var samples: [SampleReference: Sample] = [:]
  /// Additions of what it had already, word for word.
  private(set) var repetitions = 0
  private(set) var startedOver = 0
  private(set) var receipt: ConsumerReceipt?
  /// What may come again, because its page was not committed.
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

  /// Samples that a store gives out anew, as the undoing of an import does.
  mutating func expectAgain(_ references: some Sequence<SampleReference>) { uncertain.formUnion(references) }

  /// Everything that there is, page by page.
  mutating func catchUp(_ consumer: FeedConsumer, ofAtMost size: Int = 1_000) async throws {
    for try await page in consumer.pages(ofAtMost: size) {
      try take(page)
      try await consumer.commit(page)
    }
  }
}

extension HealthStore {
  /// What a consumer should have.
  func live(_ filter: SampleFilter = .everything) async throws -> [SampleReference: Sample] {
    var live: [SampleReference: Sample] = [:]
    for case .added(let sample) in try await allChanges() where filter.passes(sample) {
      live[sample.reference] = sample
    }
    return live
  }
}
