import OperatingSystem

/// A user's `hpeer.service` as it is written where no package brings one: `hpeer run`, hardened as far as a user manager of
/// systemd 252 starts it.
///
/// The directives are those of the package's packaging/systemd/user/hpeer.service, apart from paths.
public struct UserUnit: Hashable, Sendable {
  /// What it is called.
  public static let name = "hpeer.service"
  /// How a unit begins that this program has written and may replace; followed by where its record is.
  static let mark = "# Written by `hpeer service install` for the record in "

  /// What is run: an absolute path.
  public var program: String
  /// Where the record is, and what else is kept with it.
  public var directory: String
  /// Whether ``directory`` is to be named to the program, because it would not find it by itself.
  public var namesDirectory: Bool
  /// Variables that lead to the configuration and the record.
  public var variables: [String: String]

  /// Throws ``UserServiceError/unusablePath(_:)`` for what a unit cannot name.
  public init(
    program: String, directory: String, namesDirectory: Bool, variables: [String: String] = [:]
  ) throws(UserServiceError) {
    // A unit has a line for each setting, and systemd takes no other control characters either.
    for path in [program, directory] + variables.values.sorted()
    where path.unicodeScalars.contains(where: Self.isControl) {
      throw .unusablePath(path)
    }
    (self.program, self.directory, self.namesDirectory) = (program, directory, namesDirectory)
    self.variables = variables
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

  /// The file.
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

  /// Where a private one would hide it.
  private var isTemporary: Bool { ["/tmp/", "/var/tmp/"].contains { directory.hasPrefix($0) } }

  /// Where the record is of which a unit's file says that this program has written it; `nil` for any other file.
  static func directory(in text: String) -> String? {
    guard let line = text.split(separator: "\n").first, line.hasPrefix(mark) else { return nil }
    return String(line.dropFirst(mark.count))
  }

  /// As systemd.syntax(7) takes a word that may hold anything.
  ///
  /// - Parameter expandsVariables: of the arguments of a command: there, `$` begins a variable.
  private static func word(_ text: String, expandsVariables: Bool = false) -> String {
    var quoted = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
    if expandsVariables { quoted = quoted.replacing("$", with: "$$") }
    return quoted == ShellWord.quoted(text) ? quoted : "\"\(quoted)\""
  }
}
