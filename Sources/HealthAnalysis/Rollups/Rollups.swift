import GRDB
import HealthModel
import HealthStore
import Synchronization

/// Precomputed statistics of a store. A query over ten years costs as much as its days rather than its samples.
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
/// A file beside the store, `statistics.sqlite`, contains a cell for every quarter-hour and every hour of each type.
/// It follows the change feed with a position of its own; before each query, the days with changes are recomputed.
/// The file may be deleted at any time and is recreated if it is damaged.
///
/// The numbers equal those of ``StatisticsQuery/computed(from:)``, apart from rounding in a different order of
/// addition. That method is used if cells cannot answer: for a selection of sources, for unknown types or types with
/// samples longer than 25 hours, and for a read-only store.
public final class Rollups: Sendable {
  let store: HealthStore
  private let file = Mutex<RollupFile?>(nil)
  private let progress: @Sendable (_ samples: Int) -> Void

  /// Creates rollups without opening the file.
  ///
  /// - Parameter progress: called with the number of samples read since the last call, on any thread.
  public init(of store: HealthStore, progress: @escaping @Sendable (_ samples: Int) -> Void = { _ in }) {
    self.store = store
    self.progress = progress
  }

  /// Returns statistics from samples alone, without app readings.
  ///
  /// - Throws: ``StatisticsError`` or ``StoreError``.
  public func statistics(_ query: StatisticsQuery) async throws -> Statistics {
    if !store.isReadOnly, RollupReader.canAnswer(query) {
      let kept = try await attempt(query.type) { db, reader in
        try RollupReader(db: db, reader: reader).statistics(query)
      }
      if case .answer(let statistics?)? = kept { return statistics }
    }
    return try await query.computed(from: store, try await facts(about: [query.type]))
  }

  /// Returns the stored facts about types. The cost depends on the days, not the samples.
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
      // Only queries throw other errors.
    }
    return .none
  }

  /// Returns a summary for each source like ``SourceSurvey/sources(of:in:)``. The cost depends on the days, not the
  /// samples.
  ///
  /// - Parameter type: the type, or `nil` for all types together.
  /// - Throws: ``StoreError``.
  public func sources(of type: SampleType?) async throws -> [SourceSummary] {
    if !store.isReadOnly {
      let kept = try await attempt(nil) { db, reader in
        try KeptEvidence(db: db, reader: reader).summaries(of: type)
      }
      if case .answer(let sources)? = kept { return sources }
    }
    return try await SourceSurvey.sources(of: type, in: store)
  }

  /// Computes everything missing for all types, so that later queries are fast. Does nothing if the file cannot be
  /// kept.
  public func refresh() async throws(StoreError) {
    if store.isReadOnly { return }
    do {
      _ = try await attempt(nil) { _, _ in true }
    } catch let error as StoreError {
      throw error
    } catch {
      // Only queries throw other errors.
    }
  }

  /// Returns whether a rollup file exists beside a store. It reflects the store at the time of the last query.
  public static func areKept(beside store: HealthStore) -> Bool { RollupFile.exists(in: store.directory) }

  /// Removes the file beside a store.
  public static func discard(of store: HealthStore) { RollupFile.discard(in: store.directory) }

  // MARK: Keeping up

  private enum Outcome<Answer: Sendable>: Sendable {
    case answer(Answer)
    /// This read of the store precedes the last update of the file.
    case outdated
    /// The file was damaged.
    case damaged
  }

  private static let attempts = 4

  /// Calls `body` when the file is up to date with the store. Returns `nil` if the file cannot be brought up to date.
  ///
  /// - Parameter type: the type whose ranking of sources must be current, or `nil` for none.
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
                // The next caller opens and checks the file again.
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
          // Fall back to samples if there is no space, no permission, or the file is locked by another process.
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
      // Use a read transaction if possible, because only write transactions wait for other processes.
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
