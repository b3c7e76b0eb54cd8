import Foundation
import OperatingSystem

/// The user service that runs `hpeer run`, managed by systemd without root.
///
/// ```swift
/// let service = UserService(Home(path: nil), namesHome: false)
/// let installation = try await service.install()
/// print(installation.unit, installation.lingers ?? false)
/// ```
public struct UserService: Sendable {
  /// The outcome of an installation.
  public struct Installation: Hashable, Sendable {
    /// The path of the unit file.
    public var unit: String
    /// Whether the unit file belongs to a package.
    public var isPackaged: Bool
    /// Whether the same unit was installed and running before.
    public var wasThere: Bool
    /// Whether the service runs while the user is not logged in; `nil` if unknown.
    public var lingers: Bool?
    /// The user that the service runs as.
    public var user: String
  }

  /// The installation and run state of the service, as systemd reports it.
  public struct State: Hashable, Sendable {
    /// The path of the unit file.
    public var unit: String
    /// The active state in systemd's terms: `active`, `activating`, `failed`, `inactive`, …
    public var active: String
    /// The enablement state in systemd's terms: `enabled`, `disabled`, `static`, …
    public var enabled: String
    /// The status text that the service reports; may be empty.
    public var status: String
    /// The main process ID; `nil` if the service is not running.
    public var process: Int32?
    /// The number of automatic restarts.
    public var restarts: Int
    /// The result in systemd's terms; `success` unless the service has failed.
    public var result: String
    /// The time at which the service became active, as systemd prints it; `nil` if it is not active.
    public var since: String?
    /// Whether the service runs while the user is not logged in; `nil` if unknown.
    public var lingers: Bool?
    /// The user that the service runs as.
    public var user: String
  }

  private let home: Home
  private let namesHome: Bool
  private let program: String?
  private let environment: [String: String]
  private let packagedUnit: String
  private let packagedProgram: String
  private let systemd: UserSystemd

  /// Creates a description of the service. Nothing is installed.
  ///
  /// - Parameters:
  ///   - namesHome: whether the home was given explicitly, so that the service needs the path.
  ///   - environment: the environment of the person who runs the command.
  public init(
    _ home: Home, namesHome: Bool, environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.init(home, namesHome: namesHome, environment: environment, program: ProgramReplacement.ownPath)
  }

  init(
    _ home: Home, namesHome: Bool, environment: [String: String], program: String?,
    packagedUnit: String = "/usr/lib/systemd/user/\(UserUnit.name)", packagedProgram: String = "/usr/bin/hpeer"
  ) {
    (self.home, self.namesHome, self.environment, self.program) = (home, namesHome, environment, program)
    (self.packagedUnit, self.packagedProgram) = (packagedUnit, packagedProgram)
    systemd = UserSystemd(environment: environment)
  }

  /// The path of the user's own unit file (systemd.unit(5)).
  private var ownUnit: String {
    HomeDirectory.resolved(UserDirectories(environment: environment).configuration + "/systemd/user")
      + "/" + UserUnit.name
  }

  /// Writes the unit file, unless the package's unit file is sufficient, then starts the service and enables it at
  /// login. If the service is installed already, applies changes.
  public func install() async throws(UserServiceError) -> Installation {
    try await systemd.requireManager()
    guard let program else { throw .unknownProgram }
    try await requireNobodyElse()
    let directories = ["XDG_CONFIG_HOME", "XDG_DATA_HOME"].filter { environment[$0]?.hasPrefix("/") == true }
    let isPackaged =
      FileStatus(packagedUnit) != nil && program == packagedProgram && !namesHome && directories.isEmpty
    var wasThere = false
    if isPackaged {
      wasThere = try before() == nil
      if !wasThere { try remove(ownUnit) }
    } else {
      let unit = try UserUnit(
        program: program, directory: home.directory, namesDirectory: namesHome,
        variables: environment.filter { directories.contains($0.key) })
      let old = try before()
      wasThere = old == unit.text
      if !wasThere { try write(unit.text) }
    }
    // Units name the directory, so it must exist when they start.
    do throws(SystemError) { try PrivateFile.makeDirectory(home.directory) } catch {
      throw .unwritable(path: home.directory, reason: error.reason)
    }
    try await systemd.call("daemon-reload")
    let ran = try await systemd.properties(of: UserUnit.name, ["ActiveState"])["ActiveState"] == "active"
    try await systemd.call("enable", "--now", UserUnit.name, limit: 660)
    // The running process was started with the former unit.
    if ran, !wasThere { try await systemd.call("restart", UserUnit.name, limit: 660) }
    return Installation(
      unit: isPackaged ? packagedUnit : ownUnit, isPackaged: isPackaged, wasThere: wasThere && ran,
      lingers: await systemd.lingers(), user: systemd.userName)
  }

  /// Stops the service and removes the unit file if this program has written it. Nothing else is changed.
  ///
  /// - Returns: the directory of the record that the service was for.
  public func uninstall() async throws(UserServiceError) -> String {
    try await systemd.requireManager()
    let own = try before()
    guard own != nil || FileStatus(packagedUnit) != nil else { throw .notInstalled }
    try await systemd.call("disable", "--now", UserUnit.name, limit: 120)
    if own != nil {
      try remove(ownUnit)
      try await systemd.call("daemon-reload")
    }
    return own.flatMap(UserUnit.directory(in:)) ?? home.directory
  }

  /// Returns the state of the service. Throws ``UserServiceError/notInstalled`` if there is no unit.
  public func state() async throws(UserServiceError) -> State {
    try await systemd.requireManager()
    let names = [
      "LoadState", "ActiveState", "UnitFileState", "StatusText", "MainPID", "FragmentPath", "ActiveEnterTimestamp",
      "NRestarts", "Result",
    ]
    let found = try await systemd.properties(of: UserUnit.name, names)
    guard found["LoadState"] == "loaded" else { throw .notInstalled }
    func text(_ name: String) -> String { found[name] ?? "" }
    let since = text("ActiveEnterTimestamp")
    return State(
      unit: text("FragmentPath"), active: text("ActiveState"), enabled: text("UnitFileState"),
      status: text("StatusText"), process: Int32(text("MainPID")).flatMap { $0 > 0 ? $0 : nil },
      restarts: Int(text("NRestarts")) ?? 0, result: text("Result"), since: since.isEmpty ? nil : since,
      lingers: await systemd.lingers(), user: systemd.userName)
  }

  /// Replaces this process with `journalctl` for the service's log. Returns only if that fails.
  ///
  /// - Parameter lines: the number of most recent lines.
  public func showLogs(lines: Int, follows: Bool) throws(UserServiceError) -> SystemError {
    let (path, environment) = try systemd.journal()
    let arguments = ["--user", "--unit=\(UserUnit.name)", "--lines=\(lines)"] + (follows ? ["--follow"] : [])
    return ProgramReplacement.run(path, arguments, environment: environment)
  }

  /// Throws if a process other than the service itself serves the home or runs for it, because both would compete.
  private func requireNobodyElse() async throws(UserServiceError) {
    guard let holder = ServeLock.holder(of: home) else { return }
    let main = try await systemd.properties(of: UserUnit.name, ["MainPID"])["MainPID"]
    guard main.flatMap({ Int32($0) }) == holder else { throw .running(process: holder) }
  }

  /// Returns the unit file that this program has written earlier, or `nil` if there is none. Throws if a user wrote
  /// it.
  private func before() throws(UserServiceError) -> String? {
    guard PrivateFile.exists(ownUnit) else { return nil }
    guard !PrivateFile.isLink(ownUnit), case .text(let text) = FileContents(path: ownUnit),
      UserUnit.directory(in: text) != nil
    else { throw .foreignUnit(path: ownUnit) }
    return text
  }

  private func write(_ text: String) throws(UserServiceError) {
    do throws(SystemError) {
      try PrivateFile.makeDirectory((ownUnit as NSString).deletingLastPathComponent)
      try PrivateFile.replace(ownUnit, Array(text.utf8))
    } catch {
      throw .unwritable(path: error.path, reason: error.reason)
    }
  }

  private func remove(_ path: String) throws(UserServiceError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw .unwritable(path: path, reason: SystemMessage.text(errno))
    }
  }
}

/// The reasons why the user service cannot be installed, inspected or removed.
public enum UserServiceError: Error, Hashable, Sendable {
  /// The machine has no systemd, or its programs are not in `PATH`.
  case noSystemd
  /// The user's service manager is not running.
  case noManager(user: String, reason: String)
  /// A unit file of this name exists that this program has not written.
  case foreignUnit(path: String)
  /// Another process serves the home or runs for it.
  case running(process: Int32)
  /// The path contains characters that a unit file cannot have.
  case unusablePath(String)
  /// The path of this program's executable is unknown.
  case unknownProgram
  /// A file could not be written or deleted.
  case unwritable(path: String, reason: String)
  /// `systemctl` refused a command.
  case refused(command: String, reason: String)
  /// The service is not installed.
  case notInstalled
}
