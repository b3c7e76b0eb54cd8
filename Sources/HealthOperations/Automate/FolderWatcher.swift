import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// A watcher that waits for files in a folder. Its mark has the version of each handled file, and is not pruned while
/// the folder is empty, because its disk may be disconnected. Skipped files are in the mark and, once, in the audit
/// log.
///
/// The folder is listed only when all files of the last listing are handled, because it may have thousands.
struct FolderWatcher: AutomationWatcher {
  /// The pause between two listings. The folder is polled because some file systems report no changes.
  private static let pause = Duration.seconds(2)

  let activity: String
  let folder: WatchedFolder
  let store: HealthStore
  let time: AutomationClock
  private let marks: FolderMarks
  /// The files of the last listing that were not returned yet.
  private var found: ArraySlice<WatchedFolder.File> = []
  /// The file that was last returned, in its version at that time. If the file grows later, it is returned again.
  private var current: WatchedFolder.File?
  /// The versions of files that have failed and are retried after all others, by name.
  private var postponed: FolderMarks.Versions = [:]

  init(activity: String, folder: WatchedFolder, store: HealthStore, time: AutomationClock) {
    (self.activity, self.folder, self.store, self.time) = (activity, folder, store, time)
    marks = FolderMarks(activity: activity, store: store, time: time)
  }

  mutating func pending() async throws -> AutomationOccasion? {
    current = try await next()
    if current == nil {
      try await list()
      current = try await next()
    }
    return current.map { .file(path: $0.path) }
  }

  /// Returns the next file of the last listing that has not changed since.
  private mutating func next() async throws -> WatchedFolder.File? {
    let versions = try await marks.versions()
    while let file = found.popFirst() {
      guard versions[file.key] != file.version else { continue }
      let now = try await onThread { [folder] _ throws(SystemError) in folder.version(of: file.path) }
      if now == file.version { return file }
    }
    return nil
  }

  private mutating func list() async throws {
    let contents = try await contents()
    let before = try await marks.versions()
    let names = Set(contents.files.map(\.key)).union(contents.passedOver.keys.map { Array($0.utf8) })
    var after = names.isEmpty ? before : before.filter { names.contains($0.key) }
    var passedOver: [String: WatchedFolder.Obstacle] = [:]
    for (name, obstacle) in contents.passedOver where after[Array(name.utf8)] != obstacle.rawValue {
      passedOver[name] = obstacle
      after[Array(name.utf8)] = obstacle.rawValue
    }
    for file in contents.files where Self.attempts(after[file.key], file.version) >= Self.mostAttempts {
      passedOver[file.name] = .ended
      after[file.key] = file.version
    }
    try await tell(of: passedOver)
    if after != before { try await marks.keep(after) }
    // Files that the process has died on come last, because it may die again.
    let turns = contents.files.filter { after[$0.key] != $0.version }.map { file in
      (file: file, attempts: Self.attempts(after[file.key], file.version), isLater: postponed[file.key] == file.version)
    }
    found =
      turns.enumerated().sorted { one, other in
        (one.element.attempts, one.element.isLater ? 1 : 0, one.offset)
          < (other.element.attempts, other.element.isLater ? 1 : 0, other.offset)
      }.map(\.element.file)[...]
  }

  mutating func wait() async throws { try await time.clock.sleep(for: Self.pause) }

  func begins(_ occasion: AutomationOccasion) async throws -> @Sendable () async throws -> Void {
    guard let file = current else { return {} }
    var versions = try await marks.versions()
    versions[file.key] = "\(Self.attempt)\(Self.attempts(versions[file.key], file.version) + 1) \(file.version)"
    try await marks.keep(versions)
    return { [self] in try await forgetAttempts() }
  }

  mutating func dealtWith(_ occasion: AutomationOccasion, failure: (any Error)?) async throws {
    guard let file = current else { return }
    guard failure.map(Self.isFinal) ?? true else {
      postponed[file.key] = file.version
      return try await forgetAttempts()
    }
    var versions = try await marks.versions()
    versions[file.key] = file.version
    try await marks.keep(versions)
  }

  // MARK: Interrupted attempts

  private static let mostAttempts = 3
  /// The prefix of the mark of a file that is being read; the number of attempts follows.
  private static let attempt = "attempt "

  private static func attempts(_ mark: String?, _ version: String) -> Int {
    guard let mark, mark.hasPrefix(attempt), mark.hasSuffix(" " + version) else { return 0 }
    return Int(mark.dropFirst(attempt.count).prefix { $0 != " " }) ?? 0
  }

  private func forgetAttempts() async throws {
    guard let file = current else { return }
    var versions = try await marks.versions()
    guard Self.attempts(versions[file.key], file.version) > 0 else { return }
    versions[file.key] = nil
    try await marks.keep(versions)
  }

  func hasOther() async throws -> Bool {
    let known = try await marks.versions()
    return try await contents().files.contains { known[$0.key] != $0.version && postponed[$0.key] != $0.version }
  }

  static func isFinal(_ error: any Error) -> Bool {
    error is ImportError || error is SampleFileError || error is ImportRefusal
      || {
        switch error {
        case AutomationFailure.cutOff, AutomationFailure.tooMuchMemory: true
        default: false
        }
      }()
  }

  private func contents() async throws -> WatchedFolder.Contents {
    try await onThread { [folder] _ throws(SystemError) in try folder.contents() }
  }

  /// Records skipped files in the audit log, with one event for each reason.
  private func tell(of passedOver: [String: WatchedFolder.Obstacle]) async throws {
    for (obstacle, files) in Dictionary(grouping: passedOver, by: \.value).sorted(by: {
      $0.key.rawValue < $1.key.rawValue
    }) {
      try await store.audit.record(
        AuditEvent(
          .automationPassedOver,
          [
            "automation": String(activity.dropFirst(Automation.activityPrefix.count)), "reason": obstacle.rawValue,
            "file": files.map(\.key).min() ?? "", "files": String(files.count),
          ]))
    }
  }
}
