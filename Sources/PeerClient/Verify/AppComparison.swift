import Foundation
import HealthModel
import HealthStore

/// A comparison of an app's list with a store. The store may hold more from other sources, so only samples missing
/// here count as differences.
struct AppComparison {
  private struct Count {
    var here = 0
    var there = 0
  }

  private let store: HealthStore
  private var counts: [SampleType: [CalendarMonth: Count]] = [:]
  /// The number of listed samples.
  private(set) var samples = 0
  private var unread: [Verification.UnreadType] = []
  /// The samples of the current type that are missing here. A walk that looks for new samples returns them each time.
  private var missing: Set<UUID> = []
  /// The maximum size of ``missing``. Beyond it, a few samples may be counted twice.
  private static let mostMissing = 500_000

  init(_ store: HealthStore) { self.store = store }

  /// Adds all samples of a walk; those that two consecutive steps share are counted once. If a type cannot be read to
  /// its end, adds what was read and continues with the other types.
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

  /// Returns the result of the comparison.
  ///
  /// - Parameter types: the types to which it was restricted; empty for all.
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
