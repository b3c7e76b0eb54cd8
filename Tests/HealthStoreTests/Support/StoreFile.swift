import Foundation
import HealthStore
import TestSupport

/// The file of a store that isn't open, to be copied and restored.
struct StoreFile {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  var path: String { directory.path("store.sqlite") }
  var url: URL { URL(filePath: path) }

  func open() throws -> HealthStore { try HealthStore(directory: directory.path) }

  /// Waits until the write-ahead log is merged into the file, because the last reference to a store may be released
  /// on another thread.
  func waitUntilClosed() async throws {
    while FileManager.default.fileExists(atPath: path + "-wal") { try await Task.sleep(for: .milliseconds(1)) }
  }

  func copy() async throws -> Data {
    try await waitUntilClosed()
    return try Data(contentsOf: url)
  }

  func restore(_ copy: Data) async throws {
    try await waitUntilClosed()
    try copy.write(to: url)
  }
}
