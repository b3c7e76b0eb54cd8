import Foundation
import HealthModel

/// Detection of losses: Home Assistant may have a new database or an older copy without recent statistics.
extension HomeAssistantHistory {
  /// Returns the types whose newest confirmed hour is missing in Home Assistant.
  func lost(of types: [SampleType], over socket: inout HomeAssistantSocket) async throws -> [SampleType] {
    var lost: [SampleType] = []
    for type in types.sorted(by: { $0.rawValue < $1.rawValue }) where HistorySeries.exists(of: type) {
      let entity = record.entity(of: type)
      guard let memory = await HistoryMemory.read(entity, in: stateFolder) else { continue }
      if try await !has(memory.last, entity, over: &socket) { lost.append(type) }
    }
    return lost
  }

  /// Returns the number that identifies an hour when it is read back: its sum, or its mean.
  static func row(of hour: Int64, _ numbers: [String: Double]) -> HistoryMemory.Row? {
    for name in ["sum", "mean"] {
      if let number = numbers[name] { return HistoryMemory.Row(hour: hour, name: name, number: number) }
    }
    return nil
  }

  /// Returns whether Home Assistant has an hour as it was sent; `true` if no hour is known.
  func has(
    _ row: HistoryMemory.Row?, _ entity: HomeAssistantEntity, over socket: inout HomeAssistantSocket
  ) async throws -> Bool {
    guard let row else { return true }
    return try await agrees([row.hour: [row.name: row.number]], entity, over: &socket)
  }

  /// Finds the first lost day, and returns the memory with that day and all later ones marked as unconfirmed.
  ///
  /// An older copy lacks all days from some day on, so a binary search is enough: ten years take a dozen requests.
  func withoutLost(
    _ memory: HistoryMemory, _ days: [Int: HistorySeries.Day], _ series: HistorySeries, _ entity: HomeAssistantEntity,
    over socket: inout HomeAssistantSocket
  ) async throws -> HistoryMemory {
    let known = memory.days.filter { $0.value.hours != 0 }.keys.sorted()
    var sums: [Int: Double] = [:]
    if series.isSum {
      var sum = 0.0
      for day in Set(known).union(days.keys).sorted() {
        sum += days[day]?.sum ?? 0
        sums[day] = sum
      }
    }
    var (low, high) = (0, known.count)
    while low < high {
      let middle = (low + high) / 2
      let day = known[middle]
      let isThere = try await has(day, memory, sums[day], series, entity, over: &socket)
      (low, high) = isThere ? (middle + 1, high) : (low, middle)
    }
    var doubted = memory
    doubted.last = nil
    for day in known[low...] {
      doubted.days[day]?.print = 0
      doubted.days[day]?.whole = 0
    }
    try await doubted.write()
    return doubted
  }

  /// Returns whether Home Assistant has the end of a day with the record's current number.
  ///
  /// - Parameter sum: the sum up to the end of the day; `nil` for a type that is not cumulative.
  private func has(
    _ day: Int, _ memory: HistoryMemory, _ sum: Double?, _ series: HistorySeries, _ entity: HomeAssistantEntity,
    over socket: inout HomeAssistantSocket
  ) async throws -> Bool {
    let hour: Int64
    let numbers: [String: Double]
    if let sum {
      let mask = memory.days[day]?.hours ?? 1
      hour = Int64(day) * 24 + Int64(31 - mask.leadingZeroBitCount)
      numbers = ["sum": entity.value(sum)]
    } else {
      guard let last = try await series.hours(of: day...day).last else { return false }
      var none = 0.0
      (hour, numbers) = (last.number, Self.numbers(of: last, after: &none, entity))
    }
    return try await agrees([hour: numbers], entity, over: &socket)
  }
}
