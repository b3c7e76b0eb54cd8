import Foundation
import HealthStore
import TestSupport

/// The file of a store that nobody has open, to be copied and put back.
struct StoreFile {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  var path: String { directory.path("store.sqlite") }
  var url: URL { URL(filePath: path) }

  func open() throws -> HealthStore { try HealthStore(directory: directory.path) }

  /// The last reference to a store may go on another thread. With it goes the write-ahead log, into the file.
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
