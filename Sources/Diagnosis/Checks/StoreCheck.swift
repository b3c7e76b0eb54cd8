import Foundation
import HealthStore
import PeerTrust

/// The health record itself: that it opens, and with `--check-store` that every page of it is sound.
struct StoreCheck: Check {
  let id = "store"
  let title = "the store"
  var subject: Subject

  init(subject: Subject) { self.subject = subject }

  /// A full check reads everything, however long that takes.
  var limit: Duration { subject.checksStore ? .seconds(24 * 3600) : .seconds(8) }

  /// Damage has many faces and one remedy; more of them do not help.
  private static let maximumFindings = 8

  func findings() async -> [Finding] {
    let home = subject.home
    let result = await BlockingWork.run { () -> Result<StoreInspection, StoreError> in
      do throws(StoreError) { return .success(try HealthStore.inspect(directory: home)) } catch {
        return .failure(error)
      }
    }
    switch result {
    case .failure(let error): return [finding(for: error)]
    case .success(let inspection):
      guard subject.checksStore else { return [Self.summary(inspection)] }
      do {
        let integrity = try await HealthStore.checkIntegrity(directory: home)
        return integrity.isSound
          ? [
            Finding(.ok, "store.sound", "The store is sound: every page of it was read, and its audit log is unbroken")
          ]
          : damage(integrity)
      } catch {
        return [finding(for: error)]
      }
    }
  }

  private static func summary(_ inspection: StoreInspection) -> Finding {
    inspection.isCurrent
      ? Finding(.ok, "store.ok", "The store opens; its samples: \(inspection.samples) (--check-store reads every page)")
      : Finding(.note, "store.older", "The store was written by an older hpeer; the next command brings it up to date")
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
      + "mv \(ShellWord.quoted(subject.home + "/store.sqlite")) \(ShellWord.quoted(subject.home + "/store.damaged"))"
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
