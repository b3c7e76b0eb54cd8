import Foundation
import HealthOperations
import HealthStore

/// A copy of the store in which an import may do what it would do, and that is gone afterwards.
struct DryRun {
  private static let prefix = "dry-run-"

  let directory: String
  let store: HealthStore

  /// Blocking.
  init(of store: HealthStore, in home: Home) throws {
    try Self.removeLeftOvers(in: home)
    directory = home.directory + "/\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)"
    // Of a process that had the same number.
    try? FileManager.default.removeItem(atPath: directory)
    do {
      try store.copyBlocking(to: directory)
      self.store = try HealthStore(directory: directory)
    } catch {
      try? FileManager.default.removeItem(atPath: directory)
      throw error
    }
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// A dry run that was killed has left a copy of the record behind.
  private static func removeLeftOvers(in home: Home) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: home.directory) where name.hasPrefix(prefix) {
      guard let process = Int32(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else { continue }
      try FileManager.default.removeItem(atPath: home.directory + "/" + name)
    }
  }
}
