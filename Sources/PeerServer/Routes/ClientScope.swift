import HealthAnalysis
import HealthModel
import HealthStore
import PeerProtocol
import Synchronization

/// What a client may read, and the one place where that is applied to what it asks for: no route asks the store for
/// samples of a client but through this.
struct ClientScope: Hashable, Sendable {
  private let granted: SampleFilter
  /// The client may have numbers of days within what is granted, and no samples.
  let isOnlyDaily: Bool

  /// - Parameter granted: what the owner allows; ``SampleFilter/everything`` where nothing was said.
  init(_ granted: SampleFilter, isOnlyDaily: Bool = false) {
    self.granted = granted
    self.isOnlyDaily = isOnlyDaily
  }

  /// Whether the client may read the whole record.
  var isEverything: Bool { granted == .everything && !isOnlyDaily }

  /// Of samples.
  private var readable: SampleFilter { isOnlyDaily ? SampleFilter(types: []) : granted }

  /// What of `asked` the client may see.
  func applied(to asked: SampleFilter) -> SampleFilter { asked.intersection(readable) }

  /// What the client may know of each sample. That it asks for fewer takes nothing away from them.
  var cut: SampleCut { granted.cut }

  /// The filter of a change token for ``applied(to:)``: under another scope it is another.
  func tokenHash(_ applied: SampleFilter) -> UInt64 { ChangeToken.filterHash(applied, scope: granted) }

  /// The types that the client may see, and of how many samples.
  func typeCounts(in store: HealthStore) async throws -> [TypeCount] {
    var counts = try await store.samples.typeCounts(granted)
    guard isOnlyDaily else { return counts }
    // Nothing of a day that is not over anywhere on Earth, whatever the client's zone is.
    let day = Timestamp(seconds: (Timestamp.now.seconds / 86_400 - 1) * 86_400)
    let recent = granted.intersection(SampleFilter(earliest: day)).range
    for index in counts.indices {
      counts[index].samples -= try await store.samples.count(of: counts[index].type, in: recent, from: granted.sources)
    }
    counts.removeAll { $0.samples <= 0 }
    return counts
  }

  /// The samples of a type that the client may see, the newest first, cut to what it may know; and how many there are.
  func page(
    of type: SampleType, in store: HealthStore, offset: Int, limit: Int
  ) async throws -> (samples: [Sample], total: Int) {
    guard readable.passes(type) else { return ([], 0) }
    let (range, sources) = (readable.range, readable.sources)
    let samples = try await store.samples.page(of: type, in: range, from: sources, offset: offset, limit: limit)
    let total = try await store.samples.count(of: type, in: range, from: sources)
    return (samples.map(cut.applied(to:)), total)
  }

  /// A sample that another one names; `nil` where the client may not see it.
  func sample(_ reference: SampleReference, in store: HealthStore) async throws -> Sample? {
    guard readable.passes(reference), let sample = try await store.samples.sample(reference), readable.passes(sample)
    else { return nil }
    return sample
  }

  /// What of a question the client may be answered: nothing outside of what is granted is in the numbers, while sources are
  /// ranked by the whole store. `nil` where it may not know of the type.
  func applied(to query: StatisticsQuery) -> StatisticsQuery? {
    guard granted.passes(query.type) else { return nil }
    var query = query
    query.sources = SampleFilter(sources: query.sources).intersection(granted).sources
    query.startingIn = granted.range
    query.readingTypes = granted.types
    if isOnlyDaily {
      // Nothing of today, not even whether there is any: when it was measured would be told by that.
      let today = Timestamp(seconds: query.zone.start(ofDay: query.zone.dayNumber(at: query.now.seconds)))
      query.end = min(query.end ?? today, today)
      query.startingIn = query.startingIn.map { $0.clamped(to: Timestamp(microseconds: .min)..<today) }
    }
    query.marksRecordEnd = granted == .everything && !isOnlyDaily
    return query
  }

  /// What the client is told of an answer.
  func object(of statistics: Statistics, _ zone: ZoneRules, now: Timestamp) -> StatisticsObject {
    guard isOnlyDaily else { return StatisticsObject(statistics, zone) }
    let bounds = granted.bounds
    var whole = statistics
    whole.values.removeAll { value in
      // Of a day that is not whole, what is missing could be told from a later answer.
      value.bucket.end > now || bounds.earliest.map { value.bucket.start < $0 } ?? false
        || bounds.end.map { value.bucket.end > $0 } ?? false
    }
    return StatisticsObject(sumsOnly: whole, zone)
  }
}

/// What a request may read, as of when its answer began.
final class GrantedScope: Sendable {
  private let scope: Mutex<ClientScope>

  init(_ scope: ClientScope) {
    self.scope = Mutex(scope)
  }

  var value: ClientScope {
    get { scope.withLock { $0 } }
    set { scope.withLock { $0 = newValue } }
  }
}
