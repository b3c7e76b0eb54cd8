import Foundation

/// A stand-in for a user's systemd: `systemctl`, `loginctl` and `journalctl` scripts that record their arguments,
/// keep the enabled and active state in files, and print what version 252 prints.
public final class UserSystemdStandIn: Sendable {
  /// The simulated state of a user's service manager.
  public struct Situation: Sendable {
    /// Whether a service manager runs for the user.
    public var hasManager = true
    /// Whether lingering is enabled for the user, or `nil` if `loginctl` can't tell.
    public var lingers: Bool? = false
    /// Whether units fail to start.
    public var failsToStart = false

    public init() {}
  }

  private let directory: TemporaryDirectory

  /// - Parameter units: The directory of the user's own units.
  public init(units: String, packagedUnits: String = "/nonexistent", _ situation: Situation = Situation()) throws {
    directory = try TemporaryDirectory()
    let state = directory.path
    let bin = directory.path("bin")
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    let bus = "Failed to connect to bus: No medium found"
    let systemctl = """
      #!/bin/bash
      words=(); now=
      for word; do case $word in --user | --no-pager) ;; --now) now=1 ;; *) words+=("$word") ;; esac; done
      echo "systemctl $*" >> '\(state)/calls'
      has() { [ -e "$1" ]; }
      unit() { if has '\(units)'/$1; then echo '\(units)'/$1; elif has '\(packagedUnits)'/$1; then echo '\(packagedUnits)'/$1; fi; }
      if ! \(situation.hasManager); then
        [ "${words[0]}" = is-system-running ] && echo offline
        echo '\(bus)' >&2; exit 1
      fi
      start() {
        if \(situation.failsToStart); then
          echo "Job for $1 failed because the control process exited with error code." >&2; exit 1
        fi
        echo 4711 > '\(state)/active'
      }
      case ${words[0]} in
        is-system-running) echo degraded; exit 1 ;;
        daemon-reload) cat "$(unit hpeer.service)" > '\(state)/loaded' 2> /dev/null || rm -f '\(state)/loaded' ;;
        enable | disable)
          path=$(unit ${words[1]})
          if [ -z "$path" ]; then echo "Failed to ${words[0]} unit: Unit file ${words[1]} does not exist." >&2; exit 1; fi
          if [ ${words[0]} = enable ]; then touch '\(state)/enabled'; [ $now ] && { has '\(state)/active' || start ${words[1]}; }
          else rm -f '\(state)/enabled'; [ $now ] && rm -f '\(state)/active'; fi ;;
        restart) start ${words[1]} ;;
        show)
          path=$(unit ${words[1]})
          echo "LoadState=$([ "$path" ] && echo loaded || echo not-found)"
          has '\(state)/active' && echo ActiveState=active || echo ActiveState=inactive
          has '\(state)/enabled' && echo UnitFileState=enabled || echo UnitFileState=disabled
          echo "MainPID=$(cat '\(state)/active' 2> /dev/null || echo 0)"
          echo "FragmentPath=$path"; echo "StatusText=Serving=all"; echo NRestarts=2; echo Result=success
          echo ActiveEnterTimestamp= ;;
        *) echo "Unknown command verb ${words[0]}." >&2; exit 1 ;;
      esac
      exit 0
      """
    let linger = situation.lingers.map { "echo \($0 ? "yes" : "no")" } ?? "echo 'User is not logged in' >&2; exit 1"
    for (name, text) in [
      ("systemctl", systemctl), ("loginctl", "#!/bin/bash\necho \"loginctl $*\" >> '\(state)/calls'\n\(linger)\n"),
      ("journalctl", "#!/bin/bash\necho \"journalctl $*\"\n"),
    ] {
      try Data(text.utf8).write(to: URL(filePath: "\(bin)/\(name)"))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(bin)/\(name)")
    }
  }

  /// A `PATH` in which these scripts come before the system's programs.
  public var path: String { directory.path("bin") + ":/usr/bin:/bin" }

  /// The commands called so far, in order.
  public var calls: [String] {
    let text = (try? String(contentsOfFile: directory.path("calls"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// Returns and clears the commands called since the last call, except those that only query.
  public func takeChanges() -> [String] {
    defer { try? FileManager.default.removeItem(atPath: directory.path("calls")) }
    return calls.filter { !$0.contains(" show ") && !$0.contains("is-system-running") }
      .map { $0.replacingOccurrences(of: "--user --no-pager ", with: "") }
  }

  public var isActive: Bool { FileManager.default.fileExists(atPath: directory.path("active")) }
  public var isEnabled: Bool { FileManager.default.fileExists(atPath: directory.path("enabled")) }
}
