import ExternalStores
import Foundation

/// A store in a single text file. The whole file is rewritten for each batch, which suffices for a few thousand
/// lines.
actor TextFile: ExternalStore {
  nonisolated let name: String
  private let url: URL

  init(_ url: URL) {
    self.url = url
    name = url.path
  }

  func fetchObjects(with objects: [any ExternalObject]) throws -> [any ExternalObject] {
    let wanted = Set(objects.map(\.uuid))
    return try lines().filter { wanted.contains($0.uuid) }
  }

  func add(objects: [any ExternalObject]) throws { try write(lines() + objects.compactMap { $0 as? HeartRateLine }) }

  func update(objects: [any ExternalObject]) throws {
    let changed = Dictionary(objects.map { ($0.uuid, $0) }) { _, last in last }
    try write(lines().map { changed[$0.uuid] as? HeartRateLine ?? $0 })
  }

  func delete(deletedObjects: [any ExternalObject]) throws {
    let deleted = Set(deletedObjects.map(\.uuid))
    try write(lines().filter { !deleted.contains($0.uuid) })
  }

  func forgetObjects(of type: any ExternalObject.Type) throws { try write([]) }

  private func lines() throws -> [HeartRateLine] {
    guard FileManager.default.fileExists(atPath: url.path) else { return [] }
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").compactMap(HeartRateLine.init)
  }

  private func write(_ lines: [HeartRateLine]) throws {
    try Data(lines.map { $0.line + "\n" }.joined().utf8).write(to: url, options: .atomic)
  }
}
