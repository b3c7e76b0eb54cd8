import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel
import HealthStore

/// A builder for the events of days that a batch has changed: nights and milestones.
struct CalendarDays: Sendable {
  /// A daily total that produces an event on the day it is reached.
  struct Milestone: Hashable, Sendable {
    var type: SampleType
    var threshold: Double
    /// The unit in HealthKit's notation; `nil` for the unit of the type's totals.
    var unit: String?
    /// The type's short name.
    var name: String
  }

  /// The intended content of a resource: an event, or `nil` if it must not exist.
  typealias Change = (name: String, event: CalendarEvent?)

  let record: RecordReader
  let hasNights: Bool
  let milestones: [Milestone]
  /// A text in event names that tells apart the nights of two people in one calendar.
  private var owner: String { String(record.store.id.uuidString.lowercased().prefix(8)) }

  /// Whether neither nights nor milestones are enabled.
  var isEmpty: Bool { !hasNights && milestones.isEmpty }

  /// Returns the current events of all days that a batch affects. Throws `StoreError`, `StatisticsError`.
  func changes(of batch: DeliveryBatch) async throws -> [Change] {
    var days: [SampleType: Set<Int>] = [:]
    // What an app has sent answers for HealthKit's types.
    func add(_ type: SampleType, _ start: Timestamp, _ end: Timestamp) {
      for concerned in AppReadings.answered(by: [type]).union([type]) { self.add(concerned, start, end, to: &days) }
    }
    for row in batch.changes.samples { add(batch.changes.types[Int(row.type)], row.start, row.end) }
    for tombstone in batch.deletions {
      add(tombstone.sample.type, tombstone.sample.start, tombstone.end ?? tombstone.sample.start)
    }
    var changes: [Change] = []
    if hasNights, let days = days[SleepQuery.type] { changes += try await nights(days) }
    for milestone in milestones {
      if let days = days[milestone.type] { changes += try await self.days(milestone, days) }
    }
    return changes
  }

  /// Returns the current events of the days that these names denote. Throws `StoreError`, `StatisticsError`.
  func changes(named names: Set<String>) async throws -> [Change] {
    func days(_ what: String) -> Set<Int> {
      let prefix = CalendarCollection.prefix + what + "-"
      return Set(
        names.compactMap { name -> Int? in
          guard name.hasPrefix(prefix),
            let start = Timestamp(iso8601: "\(name.dropFirst(prefix.count).prefix(10))T00:00:00Z")
          else { return nil }
          let day = Int(start.seconds / 86_400)
          return CalendarCollection.name(key(what, day)) == name ? day : nil
        })
    }
    var changes = try await hasNights ? nights(days("night")) : []
    for milestone in milestones { changes += try await self.days(milestone, days(Self.what(milestone))) }
    return changes
  }

  private func add(_ type: SampleType, _ start: Timestamp, _ end: Timestamp, to days: inout [SampleType: Set<Int>]) {
    let isSleep = type == SleepQuery.type
    guard isSleep ? hasNights : milestones.contains(where: { $0.type == type }) else { return }
    // Only the years 1 to 9999. Of a longer sample, only the first month counts.
    let years: Range<Int64> = -62_135_510_400..<253_402_214_400
    guard years.contains(start.seconds), years.contains(end.seconds) else { return }
    // A night belongs to the day on which it ends, may include other samples, and affects where later sleep days end.
    let first = record.zone.dayNumber(at: start.seconds) - (isSleep ? 1 : 0)
    let last = min(record.zone.dayNumber(at: max(start, end).seconds), first + 31)
    days[type, default: []].formUnion(first...last + (isSleep ? SleepQuery.reach : 0))
  }

  // MARK: Nights

  private func nights(_ days: Set<Int>) async throws -> [Change] {
    guard let first = days.min(), let last = days.max(), record.filter.passes(SleepQuery.type) else { return [] }
    var events: [Int: CalendarEvent] = [:]
    for night in try await record.nights(from: first, upTo: last) where days.contains(night.day) {
      events[night.day] = event(of: night)
    }
    return days.sorted().map { (CalendarCollection.name(key("night", $0)), events[$0]) }
  }

  /// Returns the event of a night, or `nil` for a night without sleep, such as one only spent in bed.
  private func event(of night: Night) -> CalendarEvent? {
    let session = night.main
    // A night for which an app has sent no times cannot be an event.
    guard session.onset != nil, let asleep = session.asleep, let length = CalendarEvent.duration(asleep) else {
      return nil
    }
    let stages: [(String, SleepStage)] = [
      ("Deep", .asleepDeep), ("REM", .asleepREM), ("Core", .asleepCore), ("Awake", .awake),
    ]
    var lines = stages.compactMap { name, stage in
      let seconds = session.duration(of: stage)
      return seconds > 0 ? CalendarEvent.duration(seconds).map { "\(name) \($0)" } : nil
    }
    if record.sendsNames, let source = session.source { lines.append(source) }
    return CalendarEvent(
      uid: key("night", night.day), stamp: session.end, time: .instants(start: session.start, end: session.end),
      summary: "Sleep \(length)", description: lines, category: "Sleep")
  }

  // MARK: Milestones

  private func days(_ milestone: Milestone, _ days: Set<Int>) async throws -> [Change] {
    guard let first = days.min(), let last = days.max() else { return [] }
    let zone = record.zone
    let statistics = try await record.statistics(
      of: milestone.type, by: .day, from: Timestamp(seconds: zone.start(ofDay: first)),
      to: Timestamp(seconds: zone.start(ofDay: last + 1)))
    var events: [Int: CalendarEvent] = [:]
    for value in statistics.values {
      guard case .sum(let sum) = value.number else { continue }
      let day = zone.dayNumber(at: value.bucket.start.seconds)
      guard days.contains(day), let total = total(sum.sum, statistics.unit, milestone), total >= milestone.threshold
      else { continue }
      events[day] = event(milestone, day, total, value.bucket)
    }
    return days.sorted().map { (CalendarCollection.name(key(Self.what(milestone), $0)), events[$0]) }
  }

  private static func what(_ milestone: Milestone) -> String { "milestone-\(milestone.name.lowercased())" }

  private func total(_ sum: Double, _ unit: String?, _ milestone: Milestone) -> Double? {
    guard let wanted = milestone.unit else { return sum }
    return UnitConversion.convert(sum, from: unit ?? "", to: wanted)
  }

  private func event(_ milestone: Milestone, _ day: Int, _ total: Double, _ bucket: Bucket) -> CalendarEvent {
    let name = SampleTypeCatalogue.healthKit[milestone.type]?.displayName ?? milestone.name
    let unit = milestone.unit.flatMap { $0 == "count" ? nil : " \($0)" } ?? ""
    // The text has only the threshold, so that a growing total doesn't change the event.
    return CalendarEvent(
      uid: key(Self.what(milestone), day), stamp: bucket.end, time: .day(day),
      summary: "\(name): \(Self.text(milestone.threshold))\(unit) reached", category: "Milestone")
  }

  private static func text(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? String(Int(number)) : "\(number)"
  }

  /// Returns the key of a day's event: `night-2024-06-15-1a2b3c4d`.
  private func key(_ what: String, _ day: Int) -> String {
    "\(what)-\(Timestamp(seconds: Int64(day) * 86_400).iso8601.prefix(10))-\(owner)"
  }
}
