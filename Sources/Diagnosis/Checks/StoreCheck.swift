import Foundation
import HealthStore
import OperatingSystem
import PeerTrust

/// A check that the health record opens and can be read, and with `--check-store` that it is completely sound.
struct StoreCheck: Check {
  let id = "store"
  let title = "the store"
  var subject: Subject
  /// The time limit for reading the store's pages without `--check-store`.
  var quickLimit = Duration.seconds(6)
  var integrity: @Sendable (String, HealthStore.CheckDepth) async -> Result<StoreIntegrity, StoreError> = {
    directory, depth in
    do throws(StoreError) {
      return .success(try await HealthStore.checkIntegrity(directory: directory, depth: depth))
    } catch {
      return .failure(error)
    }
  }

  init(subject: Subject) { self.subject = subject }

  /// The time limit. A full check reads everything and may take hours.
  var limit: Duration { subject.checksStore ? .seconds(24 * 3600) : quickLimit + .seconds(8) }

  /// The maximum number of damage findings: they all have the same remedy.
  private static let maximumFindings = 8

  func findings() async -> [Finding] {
    let home = subject.home
    let result = await onThread { (_) -> Result<StoreInspection, StoreError> in
      do throws(StoreError) { return .success(try HealthStore.inspect(directory: home)) } catch {
        return .failure(error)
      }
    }
    switch result {
    case .failure(let error): return [finding(for: error)]
    case .success(let inspection): return await subject.checksStore ? wholeCheck() : quickCheck(inspection)
    }
  }

  private func wholeCheck() async -> [Finding] {
    switch await integrity(subject.home, .everything) {
    case .failure(let error): [finding(for: error)]
    case .success(let integrity) where integrity.isSound:
      [Finding(.ok, "store.sound", "The store is sound: every page of it was read, and its audit log is unbroken")]
    case .success(let integrity): damage(integrity)
    }
  }

  /// Reads as many pages as the time limit allows: commands that write stop at a damaged page, so it is worth finding
  /// early.
  private func quickCheck(_ inspection: StoreInspection) async -> [Finding] {
    let result = await TimeLimit.run(quickLimit) { [integrity, subject] in await integrity(subject.home, .pages) }
    switch result {
    case .success(let integrity)? where !integrity.isSound: return damage(integrity)
    case .failure(let error)?: return [finding(for: error)]
    case .success?, nil: return [summary(inspection, isRead: result != nil)]
    }
  }

  private func summary(_ inspection: StoreInspection, isRead: Bool) -> Finding {
    guard inspection.isCurrent else {
      return Finding(
        .note, "store.older", "The store was written by an older hpeer; the next command brings it up to date")
    }
    guard isRead else {
      return Finding(
        .note, "store.unread",
        "The store opens; its samples: \(inspection.samples). Reading all of it takes longer than "
          + "\(quickLimit.components.seconds) s, so it may still be damaged",
        remedy: "hpeer doctor --check-store")
    }
    return Finding(
      .ok, "store.ok",
      "The store opens, and every page can be read; its samples: \(inspection.samples) (--check-store checks more)")
  }

  private func damage(_ integrity: StoreIntegrity) -> [Finding] {
    var findings = integrity.findings.prefix(Self.maximumFindings).map {
      Finding(.blocking, "store.damaged", "\($0)", remedy: remedy)
    }
    let rest = integrity.findings.count - findings.count
    if rest > 0 { findings.append(Finding(.note, "store.damaged.more", "\(rest) more of these")) }
    return findings
  }

  private var remedy: String {
    "nothing was changed: restore a copy, or move the store away and import or pull again: "
      + "d=\(ShellWord.quoted(subject.home)); mkdir -m 700 \"$d/damaged\" && mv \"$d\"/store.sqlite* \"$d/damaged\""
  }

  private func finding(for error: StoreError) -> Finding {
    switch error {
    case .missing:
      Finding(
        .note, "store.missing", "There is no store yet", remedy: "hpeer import export.zip, or hpeer pull NAME")
    case .newerSchema(let path):
      Finding(
        .blocking, "store.newer", "\(path) was written by a newer hpeer", remedy: "update hpeer on this machine")
    case .corrupt(let path, let detail):
      Finding(.blocking, "store.damaged", "\(path) is damaged (\(detail))", remedy: remedy)
    case .notPermitted(let path):
      Finding(
        .blocking, "store.unreadable", "\(path) cannot be read by this user",
        remedy: "if it is yours: sudo chown -R \(geteuid()) \(ShellWord.quoted(subject.home))")
    case .locked(let path):
      Finding(.note, "store.busy", "\(path) is in use by another process, and was not looked at")
    default:
      Finding(.blocking, "store.failed", "\(error)")
    }
  }
}
