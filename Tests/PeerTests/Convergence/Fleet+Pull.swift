import HealthModel
import HealthStore

extension Fleet {
  /// Pulls like ``PeerClient/Pull``, with faults at chosen batches.
  ///
  /// - Parameter isChecked: Whether to check at the end that everything has arrived that existed at the start.
  func pull(_ step: PullStep, isChecked: Bool) async throws {
    guard step.into != step.from else { return }
    let consumer = consumer(step.from, step.selection)
    let before = isChecked ? try await machines[step.from].store.state() : StoreState()
    let isWhole = if let carrier { try await carrier(step, self) } else { try await follow(step, consumer) }
    if isWhole, isChecked { try await requireCovered(before, step) }
  }

  /// Runs the requests of a pull. Returns whether the pull completed.
  private func follow(_ step: PullStep, _ consumer: String) async throws -> Bool {
    var run = PullRun()
    if step.isFull { try await machines[step.into].store.feed.forgetPosition(of: consumer) }
    var more = true
    while more {
      do {
        guard let next = try await request(step, consumer, &run) else { return false }
        more = next
      } catch is Feed.Gone {
        guard try await machines[step.into].store.feed.position(of: consumer) != nil else {
          throw Failure("\(step): refused without a token")
        }
        // A second refusal, after tombstones were forgotten in between, ends the pull with an error.
        guard !run.hasStartedOver else { return false }
        run.hasStartedOver = true
        try await machines[step.into].store.feed.forgetPosition(of: consumer)
      }
    }
    return true
  }

  private struct PullRun {
    var hasStartedOver = false
    var batches = 0
    var meanwhileIsDone = false
  }

  /// Makes a single request. Returns whether there is more, or `nil` if the request was interrupted.
  private func request(_ step: PullStep, _ consumer: String, _ run: inout PullRun) async throws -> Bool? {
    let client = machines[step.into]
    let feed = feed(of: step.from, selection: step.selection, bound: step.bound)
    var page = try await feed.page(after: try await client.store.feed.position(of: consumer), limit: step.pageSize)
    var pages = 0
    while true {
      if case .cut(let limit) = step.fault, run.batches >= limit { return nil }
      client.deliveries[consumer, default: []].append(page.bytes)
      if case .crash(run.batches) = step.fault { return nil }
      let receipt = try await wire.commit(page.bytes, client.store, consumer)
      if case .twice(run.batches) = step.fault {
        let again = try await wire.commit(page.bytes, client.store, consumer).summary
        guard again.added == 0, again.deleted == 0 else { throw Failure("\(step): a batch was applied twice") }
      }
      guard receipt.more == !page.isLast else { throw Failure("\(step): the end of the feed went wrong") }
      run.batches += 1
      pages += 1
      if !run.meanwhileIsDone {
        run.meanwhileIsDone = true
        for other in step.meanwhile { try await self.run(other) }
      }
      if page.isLast { return false }
      if pages >= step.pages { return true }
      do {
        page = try await feed.page(after: page, limit: step.pageSize)
      } catch is Feed.Gone {
        return nil
      }
    }
  }

  private func requireCovered(_ source: StoreState, _ step: PullStep) async throws {
    let here = try await machines[step.into].store.state()
    let filter = feed(of: step.from, selection: step.selection, bound: step.bound).filter
    func isWanted(_ key: SampleKey) -> Bool {
      let type = SampleType(String(decoding: key.type, as: UTF8.self))
      return !forgotten.contains(key) && filter.types?.contains(type) ?? true
        && filter.earliest.map { key.start >= $0.microseconds } ?? true
    }
    for key in source.live.subtracting(here.live) where !here.tombstones.contains(key) && isWanted(key) {
      throw Failure("\(step): \(key) did not come")
    }
    for key in source.tombstones.subtracting(here.tombstones) where isWanted(key) {
      throw Failure("\(step): the deletion of \(key) did not come")
    }
  }
}
