import Foundation
import HealthStore
import Synchronization

/// A copy of the store in which an import may do what it would do, and that is gone afterwards.
struct DryRun: Sendable {
  private static let prefix = "dry-run-"
  /// The names of this process's own.
  private static let running = Mutex<Set<String>>([])

  let store: HealthStore
  private let directory: String
  private let name: String

  /// Beside the store. Blocking.
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

  /// A dry run that was killed has left a copy of the record behind.
  private static func removeLeftOvers(in home: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: home) where name.hasPrefix(prefix) {
      guard let process = Int32(name.dropFirst(prefix.count).prefix { $0 != "-" }), isLeftOver(name, of: process)
      else { continue }
      do {
        try FileManager.default.removeItem(atPath: home + "/" + name)
      } catch CocoaError.fileNoSuchFile {
        // It has ended in the meantime.
      }
    }
  }

  private static func isLeftOver(_ name: String, of process: Int32) -> Bool {
    // Where process numbers are given out again, as in a container, one that was killed may have had ours.
    if process == ProcessInfo.processInfo.processIdentifier { return running.withLock { !$0.contains(name) } }
    return kill(process, 0) != 0 && errno == ESRCH
  }
}
