import Foundation
import HealthModel

/// Confirmation of statistics: Home Assistant answers before it writes them, and loses unwritten ones.
extension HomeAssistantHistory {
  /// The maximum number of requests to see whether sent statistics have been written.
  private static let questions = 300
  private static let longestPause = Duration.milliseconds(1_000)
  /// The maximum range of one request in hours. The answer may include other hours and then has some 400 KB.
  private static let span: Int64 = 4_000

  /// Returns the numbers that Home Assistant should have for an hour, by name.
  ///
  /// - Parameter sum: the sum of all hours before; increased by this hour's.
  static func numbers(
    of hour: HistoryHour, after sum: inout Double, _ entity: HomeAssistantEntity
  ) -> [String: Double] {
    switch hour.value {
    case .sum(let value):
      sum += value
      return ["sum": entity.value(sum)]
    case .mean(let mean, let minimum, let maximum):
      return ["mean": entity.value(mean), "min": entity.value(minimum), "max": entity.value(maximum)]
    }
  }

  /// Returns when Home Assistant has written all hours. The last hour is checked first, because that is cheap, but it
  /// proves nothing if its numbers were the same before.
  func readBack(
    _ hours: [HistoryHour], after base: Double, _ entity: HomeAssistantEntity, over socket: inout HomeAssistantSocket
  ) async throws {
    var sum = base
    var rest = hours[...]
    while let first = rest.first?.number {
      let part = rest.prefix(Self.rows).prefix { $0.number < first + Self.span }
      rest = rest.dropFirst(part.count)
      var expected: [Int64: [String: Double]] = [:]
      for hour in part { expected[hour.number] = Self.numbers(of: hour, after: &sum, entity) }
      let last = part.last?.number ?? first
      try await waitUntilWritten(expected.filter { $0.key == last }, entity, over: &socket)
      try await waitUntilWritten(expected, entity, over: &socket)
    }
  }

  /// Waits until Home Assistant has written some hours.
  ///
  /// - Parameter expected: the numbers by hours since 1970.
  private func waitUntilWritten(
    _ expected: [Int64: [String: Double]], _ entity: HomeAssistantEntity, over socket: inout HomeAssistantSocket
  ) async throws {
    var pause = Duration.milliseconds(10)
    for _ in 0..<Self.questions {
      if try await agrees(expected, entity, over: &socket) { return }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, Self.longestPause)
    }
    throw DeliveryError.temporary(reason: "Home Assistant has not written the history of \(entity.name) yet")
  }

  /// Returns whether Home Assistant has some hours with the expected numbers. Other hours are ignored.
  ///
  /// - Parameter expected: the numbers by hours since 1970.
  func agrees(
    _ expected: [Int64: [String: Double]], _ entity: HomeAssistantEntity, over socket: inout HomeAssistantSocket
  ) async throws -> Bool {
    guard let first = expected.keys.min(), let last = expected.keys.max() else { return true }
    let names = Set(expected.values.joined().map(\.key)).sorted()
    let answer = try await call(
      "recorder/statistics_during_period",
      [
        "start_time": .string(Timestamp(seconds: first * 3_600).iso8601),
        "end_time": .string(Timestamp(seconds: (last + 1) * 3_600).iso8601),
        "statistic_ids": .array([.string(id(of: entity))]), "period": .string("hour"),
        "types": .array(names.map(JSONValue.string)),
      ], over: &socket)
    guard case .object(let series) = answer else { return false }
    return Self.agrees(series[id(of: entity)], with: expected)
  }

  /// Returns whether the rows of an answer contain all expected numbers. Other rows are ignored.
  private static func agrees(_ rows: JSONValue?, with expected: [Int64: [String: Double]]) -> Bool {
    guard case .array(let rows)? = rows else { return false }
    var found: Set<Int64> = []
    for case .object(let row) in rows {
      guard let hour = hour(row["start"]), let numbers = expected[hour] else { continue }
      guard numbers.allSatisfy({ isEqual(number(row[$0.key]), $0.value) }) else { return false }
      found.insert(hour)
    }
    return found.count == expected.count
  }

  /// Returns whether two numbers are equal up to rounding: sums over years differ in the last digits.
  private static func isEqual(_ found: Double?, _ expected: Double) -> Bool {
    guard let found else { return false }
    return abs(found - expected) <= 1e-9 * max(1, abs(expected))
  }

  /// Returns the hours since 1970 of a row's start, which is in milliseconds, or a text in older versions.
  private static func hour(_ start: JSONValue?) -> Int64? {
    if case .string(let text)? = start { return Timestamp(iso8601: text).map { $0.seconds / 3_600 } }
    return number(start).flatMap { Int64(exactly: ($0 / 3_600_000).rounded(.down)) }
  }

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let number)?: Double(number)
    case .number(let number)?: number
    default: nil
    }
  }
}
