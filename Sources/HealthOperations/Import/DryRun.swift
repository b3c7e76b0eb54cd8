import Foundation
import HealthStore
import Synchronization

/// A temporary copy of the store that an import may change.
struct DryRun: Sendable {
  private static let prefix = "dry-run-"
  /// The directory names of this process's dry runs.
  private static let running = Mutex<Set<String>>([])

  let store: HealthStore
  private let directory: String
  private let name: String

  /// Copies the store into a new directory beside it. Blocking.
  init(of store: HealthStore) throws {
    let home = URL(fileURLWithPath: store.path).deletingLastPathComponent().path
    try Self.removeLeftOvers(in: home)
    let name = "\(Self.prefix)\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)"
    directory = home + "/" + name
    self.name = name
    Self.running.withLock { running in _ = running.insert(name) }
    do {
      try store.copyBlocking(to: directory)
      self.store = try HealthStore(directory: directory)
    } catch {
      Self.remove(name, directory)
      throw error
    }
  }

  func remove() { Self.remove(name, directory) }

  private static func remove(_ name: String, _ directory: String) {
    try? FileManager.default.removeItem(atPath: directory)
    running.withLock { running in _ = running.remove(name) }
  }

  /// Deletes the copies of the record that killed dry runs have left behind.
  private static func removeLeftOvers(in home: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: home) where name.hasPrefix(prefix) {
      guard let process = Int32(name.dropFirst(prefix.count).prefix { $0 != "-" }), isLeftOver(name, of: process)
      else { continue }
      do {
        try FileManager.default.removeItem(atPath: home + "/" + name)
      } catch CocoaError.fileNoSuchFile {
        // The other process has removed it in the meantime.
      }
    }
  }

  private static func isLeftOver(_ name: String, of process: Int32) -> Bool {
    // Process IDs are reused, for example in a container, so a killed dry run may have had this process's ID.
    if process == ProcessInfo.processInfo.processIdentifier { return running.withLock { !$0.contains(name) } }
    return kill(process, 0) != 0 && errno == ESRCH
  }
}
