import Foundation
import OperatingSystem
import PeerTrust

/// A check of this machine's key and certificate, which every paired machine has pinned.
struct IdentityCheck: Check {
  let id = "identity"
  let title = "the identity"
  var subject: Subject

  init(subject: Subject) { self.subject = subject }

  /// The remaining validity below which the certificate is mentioned, in seconds.
  private static let soon: TimeInterval = 90 * 86_400

  func findings() async -> [Finding] {
    do {
      guard let identity = try await IdentityStore.existing(in: subject.homeURL) else {
        return [Finding(.ok, "identity.new", "This machine's identity will be made at its first serve, pair or pull")]
      }
      return [Self.judge(identity.validity, shortID: identity.id.short, now: subject.now)]
    } catch {
      return [finding(for: error)]
    }
  }

  static func judge(_ validity: DateInterval?, shortID: String, now: Date) -> Finding {
    guard let validity else {
      return Finding(.warning, "identity.undated", "This machine's certificate does not say how long it is valid")
    }
    if now < validity.start {
      return Finding(
        .blocking, "identity.future", "This machine's certificate is valid only from \(text(validity.start))",
        remedy: "set the clock: sudo timedatectl set-ntp true")
    }
    if now >= validity.end {
      return Finding(
        .warning, "identity.expired", "This machine's certificate was valid until \(text(validity.end))",
        remedy:
          "hpeer goes by the pinned fingerprint and goes on; for strict clients move the directory 'identity' away "
          + "and pair again")
    }
    if validity.end.timeIntervalSince(now) < Ending.notice {
      return Finding(
        .warning, "identity.ending", "This machine's certificate is valid until \(text(validity.end)) only",
        remedy: "hpeer goes by the pinned fingerprint and goes on; for strict clients: hpeer identity rotate")
    }
    if validity.end.timeIntervalSince(now) < soon {
      return Finding(.note, "identity.ending", "This machine's certificate is valid until \(text(validity.end))")
    }
    return Finding(.ok, "identity.ok", "This machine's identity is \(shortID), and its key and certificate match")
  }

  private func finding(for error: IdentityError) -> Finding {
    let backup = "restore it from a backup, or move it away to get a new identity and pair every machine again"
    switch error {
    case .permissionsTooOpen(let path, let mode):
      return Finding(
        .blocking, "identity.open", "\(path) is open to other users, so hpeer does not use it",
        remedy: "chmod \(mode) \(ShellWord.quoted(path))")
    case .incomplete(let directory, let missing):
      return Finding(
        .blocking, "identity.incomplete", "The identity in \(directory) lacks \(missing.joined(separator: " and "))",
        remedy: backup)
    case .unreadable(let path, let reason):
      return Finding(
        .blocking, "identity.unreadable", "\(path) cannot be read (\(reason))",
        remedy: "if it is yours: sudo chown -R \(geteuid()) \(ShellWord.quoted(subject.home))")
    case .malformed(let path, let reason):
      return Finding(.blocking, "identity.damaged", "\(path) is damaged (\(reason))", remedy: backup)
    case .keyMismatch(let directory):
      return Finding(
        .blocking, "identity.mismatch", "certificate.pem and key.pem in \(directory) do not belong together",
        remedy: backup)
    case .missing, .notWritable, .openSSL:
      return Finding(.blocking, "identity.failed", "\(error)")
    }
  }

  private static func text(_ date: Date) -> String { ClockCheck.day(date) }
}
