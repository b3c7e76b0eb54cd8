import GRDB
import HealthModel
import HealthStore
import Synchronization

/// Statistics of a store that are kept, not computed: what is asked of ten years costs what their days do, not their samples.
///
/// ```swift
/// func steps(in store: HealthStore) async throws {
///   let rollups = Rollups(of: store)
///   let zone = try ZoneRules(named: "Europe/Berlin")
///   let query = StatisticsQuery(SampleType("HKQuantityTypeIdentifierStepCount"), by: .day, in: zone)
///   print(try await rollups.statistics(query).values.count, "days")
/// }
/// ```
///
/// Beside the store is a file, `statistics.sqlite`, in which each type has a cell for every quarter-hour and every hour. It
/// follows the change feed with a position of its own; before each question, the days are computed anew on which anything
/// has changed. The file may be deleted at any time, and is made anew where anything is wrong with it.
///
/// The numbers are those of ``StatisticsQuery/computed(from:)``, but for the rounding of sums that are added in another order.
/// That is what answers where cells cannot: for some sources only, for types that nobody knows or that have samples of
/// more than 25 hours, and for a store that cannot be written.
public final class Rollups: Sendable {
  let store: HealthStore
  private let file = Mutex<RollupFile?>(nil)
  private let progress: @Sendable (_ samples: Int) -> Void

  /// Opens nothing yet.
  ///
  /// - Parameter progress: is told how many samples more have been looked at. Called on whatever thread does it.
  public init(of store: HealthStore, progress: @escaping @Sendable (_ samples: Int) -> Void = { _ in }) {
    self.store = store
    self.progress = progress
  }

  /// From samples alone, without readings of apps. Throws ``StatisticsError`` or ``StoreError``.
  public func statistics(_ query: StatisticsQuery) async throws -> Statistics {
    if !store.isReadOnly, RollupReader.canAnswer(query) {
      let kept = try await attempt(query.type) { db, reader in
        try RollupReader(db: db, reader: reader).statistics(query)
      }
      if case .answer(let statistics?)? = kept { return statistics }
    }
    return try await query.computed(from: store, try await facts(about: [query.type]))
  }

  /// What is kept of some types; costs what the days do, not the samples.
  func facts(about types: [SampleType]) async throws(StoreError) -> KeptFacts {
    if store.isReadOnly { return .none }
    do {
      let kept = try await attempt(nil) { db, reader in
        let evidence = KeptEvidence(db: db, reader: reader)
        let known = try Dictionary(
          uniqueKeysWithValues: Set(types).map { ($0, try KeptType.find($0, db)) })
        return KeptFacts(
          rankings: try evidence.rankings(of: known), longest: known.compactMapValues { $0?.longestOfAll })
      }
      if case .answer(let facts)? = kept { return facts }
    } catch let error as StoreError {
      throw error
    } catch {
      // Only a question can be wrong.
    }
    return .none
  }

  /// Returns a summary for each source, as ``SourceSurvey/sources(of:in:)`` does; costs what the days do, not the samples.
  /// Throws ``StoreError``.
  ///
  /// - Parameter type: `nil` for all together.
  public func sources(of type: SampleType?) async throws -> [SourceSummary] {
    if !store.isReadOnly {
      let kept = try await attempt(nil) { db, reader in
        try KeptEvidence(db: db, reader: reader).summaries(of: type)
      }
      if case .answer(let sources)? = kept { return sources }
    }
    return try await SourceSurvey.sources(of: type, in: store)
  }

  /// Computes what is missing, for all types, and so does everything that takes long. Where the file cannot be kept, nothing
  /// happens.
  public func refresh() async throws(StoreError) {
    if store.isReadOnly { return }
    do {
      _ = try await attempt(nil) { _, _ in true }
    } catch let error as StoreError {
      throw error
    } catch {
      // Only a question can be wrong.
    }
  }

  /// Whether there is a file beside a store, which knows what the store held when somebody asked last.
  public static func areKept(beside store: HealthStore) -> Bool { RollupFile.exists(in: store.directory) }

  /// Removes the file beside a store.
  public static func discard(of store: HealthStore) { RollupFile.discard(in: store.directory) }

  // MARK: Keeping up

  private enum Outcome<Answer: Sendable>: Sendable {
    case answer(Answer)
    /// This read of the store was from before the file was brought up to date.
    case outdated
    /// The file was of no use.
    case damaged
  }

  private static let attempts = 4

  /// Has `body` look at the file when it stands where the store does. `nil` where that cannot be.
  ///
  /// - Parameter type: whose sources must be ranked by all that is known.
  private func attempt<Answer: Sendable>(
    _ type: SampleType?, _ body: @escaping @Sendable (Database, NumberReader) throws -> Answer
  ) async throws -> Outcome<Answer>? {
    for attempt in 0..<Self.attempts {
      let outcome: Result<Outcome<Answer>?, StatisticsError> = try await store.samples.numbers { reader in
        do {
          return .success(
            try self.file.withLock { file in
              if file == nil { file = try RollupFile(in: self.store.directory) }
              guard let queue = file?.queue else { return nil }
              do {
                return try self.bringUpToDate(queue, reader, type, mayBeOld: attempt == 0, body)
              } catch {
                // Whoever opens it next makes sure of it.
                file = nil
                throw error
              }
            })
        } catch let error as StatisticsError {
          return .failure(error)
        } catch let error as StoreError {
          throw error
        } catch is CancellationError {
          throw StoreError.cancelled
        } catch is RollupDamage {
          RollupFile.discard(in: self.store.directory)
          return .success(.damaged)
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
          RollupFile.discard(in: self.store.directory)
          return .success(.damaged)
        } catch {
          // No room, no right to write, or another process holds it: the samples are there.
          return .success(nil)
        }
      }
      switch try outcome.get() {
      case .answer(let answer): return .answer(answer)
      case .outdated, .damaged: continue
      case nil: return nil
      }
    }
    return nil
  }

  private func bringUpToDate<Answer: Sendable>(
    _ queue: DatabaseQueue, _ reader: NumberReader, _ type: SampleType?, mayBeOld: Bool,
    _ body: (Database, NumberReader) throws -> Answer
  ) throws -> Outcome<Answer> {
    let history = try reader.spans.history()
    var daysAtOnce: Int64 = 64
    while true {
      // Only a transaction that writes waits for other processes.
      let known = try queue.read { db -> Answer? in
        guard try ChangedDays(db: db, reader: reader, history: history).areNone(),
          try type.flatMap({ try KeptType.find($0, db) })?.isRanked(db, reader) ?? true
        else { return nil }
        return try body(db, reader)
      }
      if let known { return .answer(known) }
      let more = try queue.write { db -> Int? in
        guard try ChangedDays(db: db, reader: reader, history: history).mark(mayBeOld: mayBeOld) else { return nil }
        var writer = RollupWriter(db: db, reader: reader, history: history, daysAtOnce: daysAtOnce)
        let samples = try writer.work()
        daysAtOnce = writer.daysAtOnce
        if samples == nil, let type = try type.flatMap({ try KeptType.find($0, db) }) {
          try type.rank(try KeptEvidence(db: db, reader: reader).ranking(of: type), db)
        }
        return samples ?? 0
      }
      guard let more else { return .outdated }
      if more > 0 { progress(more) }
    }
  }
}
