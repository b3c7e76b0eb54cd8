import Foundation
import HealthModel
import OperatingSystem

extension HomeAssistantHistory {
  /// Clears what Home Assistant has of this person, and sends all of it again. Goes on where an attempt under the same key
  /// stopped.
  ///
  /// - Parameter types: those that the record has.
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

  /// Imports one hour of ``probe``, and takes it away again.
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

  /// Takes away what Home Assistant has of this person's types that are not selected or not there any more.
  ///
  /// - Parameter own: types outside the catalogue that are looked for, too.
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

  /// The types that an attempt under this key has done.
  private static func read(_ path: String, _ key: DeliveryKey) async -> [String] {
    await onThread { _ in
      guard let data = FileManager.default.contents(atPath: path) else { return [] }
      let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
      return lines.first == key.description ? Array(lines.dropFirst()) : []
    }
  }
}
