import Foundation
import HealthModel
import HealthStore

/// Compares what an app lists with a store, which may hold more by other roads: only what is missing here is a difference.
struct AppComparison {
  private struct Count {
    var here = 0
    var there = 0
  }

  private let store: HealthStore
  private var counts: [SampleType: [CalendarMonth: Count]] = [:]
  /// Samples that were listed.
  private(set) var samples = 0
  private var unread: [Verification.UnreadType] = []
  /// Of the type that is read, those that are missing here: a walk that looks for what has come meanwhile takes them for new
  /// each time.
  private var missing: Set<UUID> = []
  /// Of more, a few may be counted twice.
  private static let mostMissing = 500_000

  init(_ store: HealthStore) { self.store = store }

  /// All that a walk brings, what two of its steps have only once. Of a type that cannot be read to its end, what came of
  /// it; the others do not wait for it.
  mutating func add(_ walk: inout some PhoneWalk, _ progress: (VerifyProgress) async -> Void) async throws {
    do {
      try await read(&walk, progress)
      if walk.isWithdrawn { unread.append(.init(type: walk.type.type, reason: "it gave nothing more of what it has")) }
    } catch let error as PeerError {
      guard let reason = error.reasonOfType else { throw error }
      unread.append(.init(type: walk.type.type, reason: reason))
    }
  }

  private mutating func read(_ walk: inout some PhoneWalk, _ progress: (VerifyProgress) async -> Void) async throws {
    missing = []
    var (before, isLast): (Set<UUID>, Bool) = ([], false)
    while !isLast {
      let step = try await walk.next()
      try await add(step.samples.filter { !before.contains($0.uuid) })
      if !step.samples.isEmpty { before = Set(step.samples.map(\.uuid)) }
      isLast = step.isLast
      await progress(VerifyProgress(samples: samples, total: samples))
    }
  }

  private mutating func add(_ listed: [Sample]) async throws {
    let listed = listed.filter { !missing.contains($0.uuid) }
    let known = try await store.samples.known(listed.map(\.reference))
    if missing.count < Self.mostMissing { missing.formUnion(listed.lazy.map(\.uuid).filter { !known.contains($0) }) }
    samples += listed.count
    for sample in listed {
      let month = CalendarMonth(containing: sample.start)
      counts[sample.type, default: [:]][month, default: Count()].there += 1
      if known.contains(sample.uuid) { counts[sample.type, default: [:]][month, default: Count()].here += 1 }
    }
  }

  /// - Parameter types: to which it was restricted; empty for all.
  func verification(of types: [SampleType]) -> Verification {
    let (here, there) = (digest(\.here), digest(\.there))
    return Verification(
      filter: types.isEmpty ? .everything : SampleFilter(types: Set(types)), isDeep: false, here: here,
      differences: DigestComparison.differences(here, there), unread: unread)
  }

  private func digest(_ count: KeyPath<Count, Int>) -> RecordDigest {
    RecordDigest(
      types: counts.sorted { SampleType.utf8Order($0.key, $1.key) }.map { type, months in
        TypeDigest(
          type: type,
          months: months.sorted { $0.key < $1.key }.map { month, counted in
            MonthDigest(
              month: month, samples: SetDigest(count: counted[keyPath: count], sum: 0), tombstones: .empty)
          })
      })
  }
}
