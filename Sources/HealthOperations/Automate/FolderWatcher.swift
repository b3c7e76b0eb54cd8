import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// Waits for files in a folder. The mark is which versions of which were dealt with, of those that were there when any file
/// was: an empty folder may be that of a disk that is away. What is passed over is in it, too, and in the audit log once.
struct FolderWatcher: AutomationWatcher {
  /// Between two looks: also on file systems that report nothing.
  private static let pause = Duration.seconds(2)

  let activity: String
  let folder: WatchedFolder
  let store: HealthStore
  let time: AutomationClock
  /// What was handed out last, as it was then: one that has grown since comes again.
  private var current: WatchedFolder.File?
  /// Versions by name of those that have failed and are to be tried again: after all others.
  private var postponed: [String: String] = [:]

  init(activity: String, folder: WatchedFolder, store: HealthStore, time: AutomationClock) {
    (self.activity, self.folder, self.store, self.time) = (activity, folder, store, time)
  }

  mutating func pending() async throws -> AutomationOccasion? {
    let contents = try await contents()
    let files = contents.files
    let before = try await versions()
    let names = Set(files.map(\.name)).union(contents.passedOver.keys)
    var after = names.isEmpty ? before : before.filter { names.contains($0.key) }
    var passedOver = contents.passedOver.filter { after[$0.key] != $0.value.rawValue }
    after.merge(passedOver.mapValues(\.rawValue)) { $1 }
    for file in files where Self.attempts(after[file.name], file.version) >= Self.mostAttempts {
      passedOver[file.name] = .ended
      after[file.name] = file.version
    }
    try await tell(of: passedOver)
    if after != before { try await keep(after) }
    // One at which the process has ended comes after all others: it may end there again.
    func turn(_ file: WatchedFolder.File) -> (Int, Int) {
      (Self.attempts(after[file.name], file.version), postponed[file.name] == file.version ? 1 : 0)
    }
    current = files.filter { after[$0.name] != $0.version }.min { turn($0) < turn($1) }
    return current.map { .file(path: $0.path) }
  }

  mutating func wait() async throws { try await time.clock.sleep(for: Self.pause) }

  func begins(_ occasion: AutomationOccasion) async throws -> @Sendable () async throws -> Void {
    guard let file = current else { return {} }
    var versions = try await versions()
    versions[file.name] = "\(Self.attempt)\(Self.attempts(versions[file.name], file.version) + 1) \(file.version)"
    try await keep(versions)
    return { [self] in try await forgetAttempts() }
  }

  mutating func dealtWith(_ occasion: AutomationOccasion, failure: (any Error)?) async throws {
    guard let file = current else { return }
    guard failure.map(Self.isFinal) ?? true else {
      postponed[file.name] = file.version
      return try await forgetAttempts()
    }
    var versions = try await versions()
    versions[file.name] = file.version
    try await keep(versions)
  }

  // MARK: Attempts that did not end

  private static let mostAttempts = 3
  /// What the mark of a file begins with that is being read, before the number of attempts.
  private static let attempt = "attempt "

  private static func attempts(_ mark: String?, _ version: String) -> Int {
    guard let mark, mark.hasPrefix(attempt), mark.hasSuffix(" " + version) else { return 0 }
    return Int(mark.dropFirst(attempt.count).prefix { $0 != " " }) ?? 0
  }

  private func forgetAttempts() async throws {
    guard let file = current else { return }
    var versions = try await versions()
    guard Self.attempts(versions[file.name], file.version) > 0 else { return }
    versions[file.name] = nil
    try await keep(versions)
  }

  func hasOther() async throws -> Bool {
    let known = try await versions()
    return try await contents().files.contains { known[$0.name] != $0.version && postponed[$0.name] != $0.version }
  }

  static func isFinal(_ error: any Error) -> Bool {
    error is ImportError || error is SampleFileError || error is ImportRefusal
      || {
        if case AutomationFailure.cutOff = error { true } else { false }
      }()
  }

  private func contents() async throws -> WatchedFolder.Contents {
    try await onThread { [folder] _ throws(SystemError) in try folder.contents() }
  }

  /// One event for each reason, however many there are.
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

  private func versions() async throws -> [String: String] {
    guard let mark = try await store.activities.known(activity, now: time.now()).mark else { return [:] }
    return (try? JSONDecoder().decode([String: String].self, from: Data(mark.utf8))) ?? [:]
  }

  private func keep(_ versions: [String: String]) async throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try await store.activities.setMark(String(decoding: try encoder.encode(versions), as: UTF8.self), activity)
  }
}
