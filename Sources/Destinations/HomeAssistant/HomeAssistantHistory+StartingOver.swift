import Foundation
import HealthModel
import OperatingSystem

extension HomeAssistantHistory {
  /// Clears all statistics of this person and sends them again. Resumes an attempt with the same key.
  ///
  /// - Parameter types: the types in the record.
  func startOver(
    with types: Set<SampleType>, _ key: DeliveryKey, over socket: inout HomeAssistantSocket
  ) async throws {
    let types = types.filter(HistorySeries.exists)
    let path = "\(stateFolder)/history-again.txt"
    let done = await Self.read(path, key)
    if done.isEmpty { try await clearOthers(than: types, over: &socket) }
    var finished = done
    for type in types.sorted(by: { $0.rawValue < $1.rawValue }) {
      let isDone = done.contains(type.rawValue)
      try await update(type, changed: [], startsOver: !isDone, over: &socket)
      guard !isDone else { continue }
      finished.append(type.rawValue)
      let text = ([key.description] + finished).map { $0 + "\n" }.joined()
      try await onThread { [stateFolder] _ in
        try PrivateFile.makeDirectory(stateFolder)
        try PrivateFile.replace(path, Array(text.utf8))
      }
    }
  }

  /// Imports an hour of the statistic ``probe`` and deletes it.
  func probe(over socket: inout HomeAssistantSocket) async throws {
    let hour = Timestamp(seconds: Timestamp.now.seconds / 3_600 * 3_600).iso8601
    let metadata = Self.metadata(
      of: probe, named: "hpeer probe", unit: nil, unitClass: "unitless", isSum: false, for: socket)
    let row: [String: JSONValue] = [
      "start": .string(hour), "mean": .integer(1), "min": .integer(1), "max": .integer(1),
    ]
    _ = try await call(
      "recorder/import_statistics", ["metadata": .object(metadata), "stats": .array([.object(row)])], over: &socket)
    try await clear(probe, over: &socket)
  }

  /// Clears the statistics of all catalogue types except the given ones.
  ///
  /// - Parameter own: types outside the catalogue to clear as well.
  func clearOthers(
    than types: Set<SampleType>, alsoOf own: [SampleType] = [], over socket: inout HomeAssistantSocket
  ) async throws {
    guard case .array(let rows) = try await call("recorder/list_statistic_ids", [:], over: &socket) else { return }
    let known = Set(
      rows.compactMap { row -> String? in
        guard case .object(let members) = row, case .string(let id)? = members["statistic_id"] else { return nil }
        return id
      })
    for type in Set(SampleTypeCatalogue.healthKit.entries.map(\.type)).union(own) where !types.contains(type) {
      let entity = record.entity(of: type)
      if known.contains(id(of: entity)) { try await clear(entity, over: &socket) }
    }
  }

  /// Returns the types that an attempt with this key has finished.
  private static func read(_ path: String, _ key: DeliveryKey) async -> [String] {
    await onThread { _ in
      guard let data = FileManager.default.contents(atPath: path) else { return [] }
      let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
      return lines.first == key.description ? Array(lines.dropFirst()) : []
    }
  }
}
