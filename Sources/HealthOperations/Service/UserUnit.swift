import OperatingSystem

/// A `hpeer.service` unit file for machines without the package: `hpeer run`, sandboxed as far as systemd 252
/// supports.
///
/// The directives are those of the package's packaging/systemd/user/hpeer.service, apart from paths.
public struct UserUnit: Hashable, Sendable {
  /// The name of the unit.
  public static let name = "hpeer.service"
  /// The beginning of unit files that this program has written and may replace. The record's directory follows.
  static let mark = "# Written by `hpeer service install` for the record in "

  /// The absolute path of the program to run.
  public var program: String
  /// The directory of the record.
  public var directory: String
  /// Whether the program needs the option `--home` with ``directory``, because it would use another by default.
  public var namesDirectory: Bool
  /// The XDG environment variables that locate the configuration and the record.
  public var variables: [String: String]

  /// Creates a unit. Throws ``UserServiceError/unusablePath(_:)`` if a path contains control characters.
  public init(
    program: String, directory: String, namesDirectory: Bool, variables: [String: String] = [:]
  ) throws(UserServiceError) {
    // A unit file has one setting per line, and systemd accepts no other control characters either.
    for path in [program, directory] + variables.values.sorted()
    where path.unicodeScalars.contains(where: Self.isControl) {
      throw .unusablePath(path)
    }
    (self.program, self.directory, self.namesDirectory) = (program, directory, namesDirectory)
    self.variables = variables
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

  /// The text of the unit file.
  public var text: String {
    let arguments = namesDirectory ? " --home \(Self.word(directory, expandsVariables: true))" : ""
    let environment = variables.sorted { $0.key < $1.key }
      .map { "Environment=\(Self.word("\($0.key)=\($0.value)"))\n" }.joined()
    return """
      \(Self.mark)\(directory)
      # Yours to change with: systemctl --user edit \(Self.name)

      [Unit]
      Description=hpeer, which keeps a health record in step between machines
      Documentation=man:hpeer-run(1) man:hpeer(7)
      # A disk that is full, or a network that is gone, may be so for days.
      StartLimitIntervalSec=0

      [Service]
      Type=notify
      NotifyAccess=main
      ExecStart=\(Self.word(program)) run\(arguments)
      ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
      Restart=on-failure
      RestartSec=10s
      # Wrong settings, and a store that is damaged or of a newer version: a person must see to these.
      RestartPreventExitStatus=2 10
      # A store of an older version is brought up to date first.
      TimeoutStartSec=10min
      TimeoutStopSec=1min
      WatchdogSec=60

      \(environment)UMask=0077
      # %t has the control socket. A folder that a destination writes into needs a line of its own.
      ReadWritePaths=\(Self.word("-" + directory)) %t
      MemoryHigh=768M
      MemoryMax=1G
      TasksMax=256
      LimitNOFILE=16384

      NoNewPrivileges=yes
      LockPersonality=yes
      MemoryDenyWriteExecute=yes
      RestrictRealtime=yes
      RestrictSUIDSGID=yes
      RestrictNamespaces=yes
      RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
      SystemCallArchitectures=native
      SystemCallFilter=@system-service
      SystemCallFilter=~@privileged @resources
      SystemCallErrorNumber=EPERM
      KeyringMode=private
      PrivateUsers=yes
      PrivateTmp=\(isTemporary ? "no" : "yes")
      ProtectSystem=strict
      ProtectHome=read-only
      # The ways to the user's own service manager, which starts what it is told to.
      InaccessiblePaths=-%t/bus -%t/systemd/private
      ProtectKernelTunables=yes
      ProtectControlGroups=yes

      [Install]
      WantedBy=default.target

      """
  }

  /// Whether the record is in a temporary directory, which a private one would hide.
  private var isTemporary: Bool { ["/tmp/", "/var/tmp/"].contains { directory.hasPrefix($0) } }

  /// Returns the record's directory from a unit file that this program has written, or `nil` for any other file.
  static func directory(in text: String) -> String? {
    guard let line = text.split(separator: "\n").first, line.hasPrefix(mark) else { return nil }
    return String(line.dropFirst(mark.count))
  }

  /// Quotes a word of a unit file (systemd.syntax(7)).
  ///
  /// - Parameter expandsVariables: whether the word is an argument of a command, in which `$` begins a variable.
  private static func word(_ text: String, expandsVariables: Bool = false) -> String {
    var quoted = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
    if expandsVariables { quoted = quoted.replacing("$", with: "$$") }
    return quoted == ShellWord.quoted(text) ? quoted : "\"\(quoted)\""
  }
}
