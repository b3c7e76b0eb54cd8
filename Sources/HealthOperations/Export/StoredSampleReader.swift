import HealthModel
import HealthStore

/// A reader of the samples to export, type by type and newest first, in short reads.
struct StoredSampleReader: Sendable {
  /// The types and the number of samples when the export begins.
  struct Plan: Sendable {
    var types: [SampleType] = []
    var samples = 0
  }

  let store: HealthStore
  let filter: SampleFilter
  /// A fixed selection of samples; `nil` for all that pass the filter.
  var selection: [SampleReference]?

  private static let wholePage = 2000
  /// The target size of payloads and metadata in a page, in bytes. In memory they take some ten times as much.
  private static let wholeText = 256 << 10

  /// Returns the number of samples for the next page, judged by the previous page, since a page is held in memory.
  private static func pageSize(after page: CodedChanges) -> Int {
    let text = page.payloads.reduce(0) { $0 + $1.utf8.count } + page.metadata.reduce(0) { $0 + $1.utf8.count }
    let bySize = max(4, min(wholePage, wholeText * max(1, page.samples.count) / max(1, text)))
    return page.kinds.reduce(bySize) { size, kind in
      // The size of samples of an unknown kind cannot be predicted.
      guard let type = Payload.contentType(ofKind: kind) else { return min(size, 200) }
      return type.isLarge ? min(size, 4) : size
    }
  }

  /// Counts the samples to export. A stored count could be wrong, and a type left out silently.
  func plan() async throws -> Plan {
    let counts = try await store.samples.counted(filter).counts
    return Plan(types: counts.map(\.type), samples: counts.reduce(0) { $0 + $1.samples })
  }

  func count(of type: SampleType) async throws -> Int {
    try await store.samples.count(of: type, in: filter.range, from: filter.sources)
  }

  /// Returns the newest sample of a type, from which the kind of the others is known.
  func first(of type: SampleType) async throws -> Sample? {
    try await store.samples.page(of: type, in: filter.range, from: filter.sources, limit: 1).first
  }

  /// Calls `body` with page after page. Samples that are added in the meantime may be included.
  func pages(of type: SampleType, _ body: ([Sample]) async throws -> Void) async throws {
    try await codedPages(of: type) { page in
      let samples: [Sample]
      do {
        samples = try page.samples.map(try ChangeExpander(page).sample)
      } catch let error as DecodingError {
        throw store.damage(error)
      }
      try await body(samples)
    }
  }

  /// Calls `body` with pages of encoded samples. Throws ``ExportError/incomplete(_:read:held:)`` if some were missed.
  func codedPages(of type: SampleType, _ body: (CodedChanges) async throws -> Void) async throws {
    if let selection {
      for reference in selection where reference.type == type {
        try Task.checkCancellation()
        guard let sample = try await store.samples.sample(reference) else { continue }
        var coder = ChangeCoder()
        try coder.add(sample)
        try await body(coder.changes)
      }
      return
    }
    let before = try await store.feed.currentAnchor()
    var size = 4
    var read = 0
    var page = try await page(of: type, after: nil, limit: size)
    while let end = page.samples.last {
      try Task.checkCancellation()
      read += page.samples.count
      guard page.samples.count == size else {
        try await body(page)
        break
      }
      let limit = Self.pageSize(after: page)
      size = limit
      let last = SampleReference(type: type, start: end.start, uuid: end.uuid)
      if limit < Self.wholePage {
        // A page of large samples takes much memory, so the next page is not read ahead.
        try await body(page)
        page = try await self.page(of: type, after: last, limit: limit)
      } else {
        async let next = self.page(of: type, after: last, limit: limit)
        try await body(page)
        page = try await next
      }
    }
    // If the store has changed in the meantime, the counts may differ.
    let held = try await store.samples.counted(filter.intersection(SampleFilter(types: [type])))
    let count = held.counts.first?.samples ?? 0
    if held.anchor == before, count != read { throw ExportError.incomplete(type, read: read, held: count) }
  }

  private func page(of type: SampleType, after last: SampleReference?, limit: Int) async throws -> CodedChanges {
    try await store.samples.codedPage(of: type, in: filter.range, from: filter.sources, after: last, limit: limit)
  }

  /// Returns the stored members of a correlation; no samples for any other sample.
  func members(of sample: Sample) async throws -> [Sample] {
    guard case .correlation(let correlation) = sample.payload else { return [] }
    var members: [Sample] = []
    for reference in correlation.members {
      if let member = try await store.samples.sample(reference) { members.append(member) }
    }
    return members
  }

  /// Returns the routes to export by their workouts, without routes that name no workout.
  func routes() async throws -> [SampleReference: [SampleReference]] {
    guard filter.passes(.workoutRoute) else { return [:] }
    var routes: [SampleReference: [SampleReference]] = [:]
    for reference in try await store.samples.routes(in: filter.range, from: filter.sources) {
      if let workout = reference.workout { routes[workout, default: []].append(reference.route) }
    }
    return routes
  }
}
