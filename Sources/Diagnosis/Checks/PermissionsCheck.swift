import Foundation
import OperatingSystem
import PeerTrust

/// A check of the owner and modes of the home: 0700 for directories, 0600 for files.
struct PermissionsCheck: Check {
  let id = "permissions"
  let title = "the permissions"
  var subject: Subject
  var user = geteuid()

  /// The files in the home that must not be readable by others. The identity has its own check.
  private static let files = [
    "store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "peers.sqlite", "peers.sqlite-wal", "peers.sqlite-shm",
    "pairing.json", "inbox/authority-key.pem",
  ]

  init(subject: Subject) { self.subject = subject }

  func findings() async -> [Finding] {
    await onThread { _ in look() }
  }

  private func look() -> [Finding] {
    let home = subject.home
    guard let directory = FileStatus(home) else {
      let parent = FileStatus.nearestExisting(home)
      guard access(parent, W_OK | X_OK) == 0 else {
        return [
          Finding(
            .blocking, "permissions.parent", "\(home) cannot be made: \(parent) is not writable for this user",
            remedy: "choose another directory with --home")
        ]
      }
      return [Finding(.ok, "permissions.new", "\(home) will be made at the first import, pull or serve")]
    }
    guard directory.isDirectory else {
      return [
        Finding(
          .blocking, "permissions.kind", "\(home) is not a directory", remedy: "choose another one with --home")
      ]
    }
    let files = ([subject.socketPath] + Self.files.map { "\(home)/\($0)" })
      .compactMap { path in FileStatus(path).map { (path, $0) } }
    var findings = [ownership(directory, files)].compactMap { $0 }
    if findings.isEmpty { findings += writability(files.map(\.0)) }
    findings += modes(directory, files)
    return findings.isEmpty
      ? [Finding(.ok, "permissions.ok", "\(home) is this user's own and closed to others")] : findings
  }

  /// Returns a finding if the home or a file has the wrong owner. For root, the right owner is that of the home.
  private func ownership(_ directory: FileStatus, _ files: [(String, FileStatus)]) -> Finding? {
    let owner = user == 0 ? directory.owner : user
    let home = subject.home
    let foreign = ([(home, directory)] + files).filter { $0.1.owner != owner }
    guard let first = foreign.first else { return nil }
    let others = foreign.count > 1 ? " and \(foreign.count - 1) more" : ""
    return Finding(
      .blocking, "permissions.owner", "\(first.0)\(others) belongs to another user than the one who runs hpeer",
      remedy: "if it is yours: sudo chown -R \(owner) \(ShellWord.quoted(home)); else choose your own with --home")
  }

  private func writability(_ files: [String]) -> [Finding] {
    let home = subject.home
    // A read-only disk is reported by another check.
    let closed = ([home] + files).filter { access($0, $0 == home ? W_OK | X_OK : W_OK) != 0 && errno == EACCES }
    guard let first = closed.first else { return [] }
    let mode = first == home ? "u+rwx" : "u+rw"
    return [
      Finding(
        .blocking, "permissions.closed", "\(first) cannot be written by this user",
        remedy: "chmod \(mode) \(ShellWord.quoted(first))")
    ]
  }

  private func modes(_ directory: FileStatus, _ files: [(String, FileStatus)]) -> [Finding] {
    let home = subject.home
    var findings: [Finding] = []
    if directory.mode & 0o022 != 0 {
      findings.append(
        Finding(
          .blocking, "permissions.writable", "Other users may write to \(home), and so exchange what is in it",
          remedy: "chmod 700 \(ShellWord.quoted(home))"))
    } else if directory.mode & 0o055 != 0 {
      findings.append(
        Finding(
          .warning, "permissions.directory", "Other users may look into \(home)",
          remedy: "chmod 700 \(ShellWord.quoted(home))"))
    }
    if let error = danger(directory) {
      findings.append(
        Finding(.blocking, "permissions.parent", "\(error.reason)", remedy: "choose another directory with --home"))
    }
    let links = files.map(\.0).filter(PrivateFile.isLink)
    if let link = links.first {
      findings.append(
        Finding(
          .blocking, "permissions.link", "\(link) is a symbolic link, and hpeer follows none in its own directory",
          remedy: "put the file itself in its place, or name the directory that has it with --home"))
    }
    let open = files.filter { $0.1.mode & 0o077 != 0 }
    if !open.isEmpty {
      findings.append(
        Finding(
          .blocking, "permissions.files",
          "Other users may read \(open.map { ($0.0 as NSString).lastPathComponent }.joined(separator: ", "))",
          remedy: "chmod 600 \(open.map { ShellWord.quoted($0.0) }.joined(separator: " "))"))
    }
    return findings
  }

  /// Returns an error if another user could replace the home with another directory.
  private func danger(_ directory: FileStatus) -> SystemError? {
    do throws(SystemError) {
      try HomeDirectory.requirePrivate(subject.home, for: user == 0 ? directory.owner : user)
      return nil
    } catch {
      // Problems of the home itself are reported elsewhere.
      return error.path == HomeDirectory.resolved(subject.home) ? nil : error
    }
  }
}
