import Foundation
import HealthModel

/// An updater of Home Assistant's long-term statistics, at a cost that depends on the amount of changes.
///
/// Sums accumulate over the whole series, so all hours after a changed hour are sent again. An hour that has lost its
/// samples is sent again without an increase. A mean cannot be deleted, so its series is cleared and sent again.
struct HomeAssistantHistory: Sendable {
  /// The maximum number of hours in one message.
  static let rows = 1_000
  /// The maximum number of attempts to clear a statistic; each waits ten seconds for the recorder.
  private static let clearings = 30

  let record: RecordReader
  let person: String
  let stateFolder: String

  /// Updates the statistics of a type.
  ///
  /// - Parameters:
  ///   - changed: days in UTC to compare hour by hour even if the numbers of the whole days are equal.
  ///   - startsOver: whether to discard what is known of Home Assistant's state.
  func update(
    _ type: SampleType, changed: [ClosedRange<Int>], startsOver: Bool, over socket: inout HomeAssistantSocket
  ) async throws {
    let entity = record.entity(of: type)
    let series = HistorySeries(of: type, in: record)
    let days = try await series.days()
    var memory = startsOver ? nil : await HistoryMemory.read(entity, in: stateFolder)
    if let known = memory, try await !has(known.last, entity, over: &socket) {
      memory = try await withoutLost(known, days, series, entity, over: &socket)
    }
    guard !days.isEmpty else {
      if memory != nil || startsOver { try await clear(entity, over: &socket) }
      return
    }
    guard let memory else { return try await sendAll(series, entity, days, over: &socket) }

    var candidates = Set(changed.joined()).union(days.filter { memory.days[$0.key]?.whole != $0.value.print }.keys)
    candidates.formUnion(memory.days.keys.filter { days[$0] == nil })
    candidates.formIntersection(Set(days.keys).union(memory.days.keys))
    let found = try await hours(of: candidates, series)
    let differing = candidates.filter { memory.days[$0]?.print != HistorySeries.print(found[$0]) }
    guard let first = differing.min() else { return }
    if series.isSum {
      let last = max(days.keys.max() ?? first, memory.days.keys.max() ?? first)
      let rest = try await hours(of: Set(first...last), series)
      let base = days.filter { $0.key < first }.values.reduce(0) { $0 + $1.sum }
      try await send(rest, of: first...last, after: base, days, memory, entity, over: &socket)
    } else if differing.contains(where: { (memory.days[$0]?.hours ?? 0) & ~mask(found[$0]) != 0 }) {
      try await sendAll(series, entity, days, over: &socket)
    } else {
      try await send(found.of(differing), of: nil, after: 0, days, memory, entity, over: &socket)
    }
  }

  /// Clears the statistics of a type.
  func clear(_ entity: HomeAssistantEntity, over socket: inout HomeAssistantSocket) async throws {
    // The memory is deleted first, so that it never claims statistics that are gone.
    await HistoryMemory.empty(entity, in: stateFolder).forget()
    try await clear(id(of: entity), over: &socket)
  }

  /// Clears a statistic, and returns when it is gone.
  func clear(_ id: String, over socket: inout HomeAssistantSocket) async throws {
    for attempt in 1... {
      do {
        _ = try await socket.call("recorder/clear_statistics", ["statistic_ids": .array([.string(id)])])
        return
      } catch let refusal as HomeAssistantSocket.Refusal {
        // The request stays in the recorder's queue, and the next answer comes after it was processed.
        guard refusal.code == "timeout", attempt < Self.clearings else {
          throw socket.failure(refusal, "keep history")
        }
      }
    }
  }

  func id(of entity: HomeAssistantEntity) -> String { "hpeer:\(person)_\(entity.key)" }

  /// The identifier of a statistic that is only used for checks and for waiting, and never kept.
  var probe: String { "hpeer:\(person)_probe" }

  // MARK: Sending

  private func sendAll(
    _ series: HistorySeries, _ entity: HomeAssistantEntity, _ days: [Int: HistorySeries.Day],
    over socket: inout HomeAssistantSocket
  ) async throws {
    try await clear(entity, over: &socket)
    guard let first = days.keys.min(), let last = days.keys.max() else { return }
    let hours = try await hours(of: Set(first...last), series)
    try await send(
      hours, of: nil, after: 0, days, HistoryMemory.empty(entity, in: stateFolder), entity, over: &socket)
  }

  /// Sends hours and updates the memory.
  ///
  /// - Parameters:
  ///   - hours: the hours by day; a day without hours is missing.
  ///   - range: the days whose sums are sent again, including days that have no hours any more; `nil` for means.
  ///   - base: the sum of all hours before.
  private func send(
    _ hours: HoursByDay, of range: ClosedRange<Int>?, after base: Double, _ days: [Int: HistorySeries.Day],
    _ memory: HistoryMemory, _ entity: HomeAssistantEntity, over socket: inout HomeAssistantSocket
  ) async throws {
    var memory = memory
    var all: [HistoryHour] = []
    let sent = range.map { range in hours.days.union(memory.days.keys.filter(range.contains)) } ?? hours.days
    for day in sent.sorted() {
      let known = hours[day]
      all += range == nil ? known : filled(known, day, memory.days[day]?.hours ?? 0)
      // A failed attempt may have sent some of these hours.
      memory.days[day] = HistoryMemory.Day(
        hours: (memory.days[day]?.hours ?? 0) | mask(known), print: 0, whole: 0)
    }
    // No confirmed hour is expected unless this succeeds.
    let last = memory.last
    memory.last = nil
    try await memory.write()
    let newest = try await send(all, after: base, entity, over: &socket)
    // Sums are always sent up to the newest hour, means only where they have changed.
    let isNewest = range != nil || newest?.hour ?? .min >= last?.hour ?? .min
    memory.last = isNewest ? newest ?? last : last
    for day in sent {
      let known = hours[day]
      memory.days[day]?.print = HistorySeries.print(known)
      memory.days[day]?.whole = days[day]?.print ?? 0
    }
    try await memory.write()
  }

  /// Returns the hours of a day, with an increase of zero for hours that Home Assistant has and the record has lost.
  private func filled(_ hours: ArraySlice<HistoryHour>, _ day: Int, _ mask: UInt32) -> ArraySlice<HistoryHour> {
    let gone = mask & ~self.mask(hours)
    let empty = (0..<24).filter { gone >> UInt32($0) & 1 == 1 }.map {
      HistoryHour(number: Int64(day) * 24 + Int64($0), value: .sum(0))
    }
    return empty.isEmpty ? hours : (hours + empty).sorted { $0.number < $1.number }[...]
  }

  private func send(
    _ hours: [HistoryHour], after base: Double, _ entity: HomeAssistantEntity,
    over socket: inout HomeAssistantSocket
  ) async throws -> HistoryMemory.Row? {
    guard let last = hours.last else { return nil }
    var sum = base
    var numbers: [String: Double] = [:]
    let metadata = Self.metadata(
      of: id(of: entity), named: "\(entity.name) (\(person))", unit: entity.unit, unitClass: entity.unitClass,
      isSum: entity.stateClass == .total, for: socket)
    for start in stride(from: 0, to: hours.count, by: Self.rows) {
      let rows = hours[start..<min(start + Self.rows, hours.count)].map { hour -> JSONValue in
        var row: [String: JSONValue] = ["start": .string(hour.start.iso8601)]
        if case .sum(let value) = hour.value { row["state"] = .number(entity.value(value)) }
        numbers = Self.numbers(of: hour, after: &sum, entity)
        for (name, number) in numbers { row[name] = .number(number) }
        return .object(row)
      }
      _ = try await call(
        "recorder/import_statistics", ["metadata": .object(metadata), "stats": .array(rows)], over: &socket)
    }
    try await readBack(hours, after: base, entity, over: &socket)
    // The recorder works in order, so once this is done, an earlier interrupted attempt cannot overwrite the hours.
    try await clear(probe, over: &socket)
    return Self.row(of: last.number, numbers)
  }

  /// Creates the metadata of a statistic, which Home Assistant requires with each import (`StatisticMetaData` of its recorder).
  static func metadata(
    of id: String, named name: String, unit: String?, unitClass: String?, isSum: Bool, for socket: HomeAssistantSocket
  ) -> [String: JSONValue] {
    var metadata: [String: JSONValue] = [
      "has_mean": .bool(!isSum), "has_sum": .bool(isSum), "name": .string(name), "source": .string("hpeer"),
      "statistic_id": .string(id), "unit_of_measurement": unit.map(JSONValue.string) ?? .null,
    ]
    if socket.wantsUnitClasses {
      // 1 stands for the arithmetic mean, 0 for none.
      metadata["mean_type"] = .integer(isSum ? 0 : 1)
      metadata["unit_class"] = unitClass.map(JSONValue.string) ?? .null
    }
    return metadata
  }

  func call(
    _ type: String, _ members: [String: JSONValue], over socket: inout HomeAssistantSocket
  ) async throws -> JSONValue {
    do {
      return try await socket.call(type, members)
    } catch let refusal as HomeAssistantSocket.Refusal {
      throw socket.failure(refusal, "keep history")
    }
  }

  // MARK: Hours

  private func hours(of days: Set<Int>, _ series: HistorySeries) async throws -> HoursByDay {
    var found: [HistoryHour] = []
    for run in days.runs { found += try await series.hours(of: run) }
    return HoursByDay(found)
  }

  private func mask(_ hours: ArraySlice<HistoryHour>) -> UInt32 {
    hours.reduce(0) { $0 | 1 << UInt32(truncatingIfNeeded: $1.number - Int64($1.day) * 24) }
  }
}

extension Set<Int> {
  /// The numbers as ranges of consecutive numbers, in order.
  var runs: [ClosedRange<Int>] {
    sorted().reduce(into: []) { runs, number in
      if let last = runs.last, last.upperBound + 1 == number {
        runs[runs.count - 1] = last.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
  }
}
