import HealthAnalysis
import HealthModel
import HealthStore
import PeerProtocol
import Synchronization

/// The permissions of a client, and the only place that applies them: every route reads samples for a client through
/// this type.
struct ClientScope: Hashable, Sendable {
  private let granted: SampleFilter
  /// Whether the client may only read daily values within its scope, not samples.
  let isOnlyDaily: Bool

  /// - Parameter granted: the filter that the owner allows; ``SampleFilter/everything`` if the owner set none.
  init(_ granted: SampleFilter, isOnlyDaily: Bool = false) {
    self.granted = granted
    self.isOnlyDaily = isOnlyDaily
  }

  /// Whether the client may read the whole record.
  var isEverything: Bool { granted == .everything && !isOnlyDaily }

  /// The filter of the samples that the client may read.
  private var readable: SampleFilter { isOnlyDaily ? SampleFilter(types: []) : granted }

  /// Returns the part of `asked` that the client may read.
  func applied(to asked: SampleFilter) -> SampleFilter { asked.intersection(readable) }

  /// The cut that removes from a sample what the client may not know about other samples. It depends on the scope,
  /// not on the request.
  var cut: SampleRedaction { granted.cut }

  /// Returns the hash for change tokens of a filter returned by ``applied(to:)``. It differs between scopes.
  func tokenHash(_ applied: SampleFilter) -> UInt64 { ChangeToken.filterHash(applied, scope: granted) }

  /// Returns the types that the client may read, with the number of samples of each.
  func typeCounts(in store: HealthStore) async throws -> [TypeCount] {
    var counts = try await store.samples.typeCounts(granted)
    guard isOnlyDaily else { return counts }
    // Excludes days that are not over everywhere on Earth, whatever the client's time zone is.
    let day = Timestamp(seconds: (Timestamp.now.seconds / 86_400 - 1) * 86_400)
    let recent = granted.intersection(SampleFilter(earliest: day)).range
    for index in counts.indices {
      counts[index].samples -= try await store.samples.count(of: counts[index].type, in: recent, from: granted.sources)
    }
    counts.removeAll { $0.samples <= 0 }
    return counts
  }

  /// Returns a page of the samples of a type that the client may read, newest first and cut, and their total number.
  func page(
    of type: SampleType, in store: HealthStore, offset: Int, limit: Int
  ) async throws -> (samples: [Sample], total: Int) {
    guard readable.passes(type) else { return ([], 0) }
    let (range, sources) = (readable.range, readable.sources)
    let samples = try await store.samples.page(of: type, in: range, from: sources, offset: offset, limit: limit)
    let total = try await store.samples.count(of: type, in: range, from: sources)
    return (samples.map(cut.applied(to:)), total)
  }

  /// Returns a sample that another sample refers to, or `nil` if the client may not read it.
  func sample(_ reference: SampleReference, in store: HealthStore) async throws -> Sample? {
    guard readable.passes(reference), let sample = try await store.samples.sample(reference), readable.passes(sample)
    else { return nil }
    return sample
  }

  /// Returns the query restricted to what the client may read, or `nil` if it may not know about the type. The values
  /// only include granted samples, while sources are ranked by the whole store.
  func applied(to query: StatisticsQuery) -> StatisticsQuery? {
    guard granted.passes(query.type) else { return nil }
    var query = query
    query.sources = SampleFilter(sources: query.sources).intersection(granted).sources
    query.startingIn = granted.range
    query.readingTypes = granted.types
    if isOnlyDaily {
      // Excludes today entirely. Even whether today has a value would reveal when it was measured.
      let today = Timestamp(seconds: query.zone.start(ofDay: query.zone.dayNumber(at: query.now.seconds)))
      query.end = min(query.end ?? today, today)
      query.startingIn = query.startingIn.map { $0.clamped(to: Timestamp(microseconds: .min)..<today) }
    }
    query.marksRecordEnd = granted == .everything && !isOnlyDaily
    return query
  }

  /// Returns the part of a result that the client may see.
  func object(of statistics: Statistics, _ zone: ZoneRules, now: Timestamp) -> StatisticsObject {
    guard isOnlyDaily else { return StatisticsObject(statistics, zone) }
    let bounds = granted.bounds
    var whole = statistics
    whole.values.removeAll { value in
      // Excludes partial days: a later answer would reveal the missing part.
      value.bucket.end > now || bounds.earliest.map { value.bucket.start < $0 } ?? false
        || bounds.end.map { value.bucket.end > $0 } ?? false
    }
    return StatisticsObject(sumsOnly: whole, zone)
  }
}

/// The scope with which a request is answered, shared with ``AuthorizationRecheck``.
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
