import Foundation
import OperatingSystem

/// `hpeer run` as a service of this user, by systemd and without root.
///
/// ```swift
/// let service = UserService(Home(path: nil), namesHome: false)
/// let installation = try await service.install()
/// print(installation.unit, installation.lingers ?? false)
/// ```
public struct UserService: Sendable {
  /// What was done to install it.
  public struct Installation: Hashable, Sendable {
    /// The file of the unit that runs now.
    public var unit: String
    /// Whether it came with a package.
    public var isPackaged: Bool
    /// Whether it was so before.
    public var wasThere: Bool
    /// Whether it runs also while this user is not logged in; `nil` where that cannot be told.
    public var lingers: Bool?
    /// Who it runs as.
    public var user: String
  }

  /// How it goes.
  public struct State: Hashable, Sendable {
    /// The file of the unit.
    public var unit: String
    /// systemd's word: `active`, `activating`, `failed`, `inactive`, ...
    public var active: String
    /// systemd's word: `enabled`, `disabled`, `static`, ...
    public var enabled: String
    /// What the service says of itself; empty where it says nothing.
    public var status: String
    /// `nil` where it does not run.
    public var process: Int32?
    /// How often it was started again by itself.
    public var restarts: Int
    /// systemd's word for how it ended; `success` while it has not failed.
    public var result: String
    /// When it became active, as systemd prints it; `nil` where it has not.
    public var since: String?
    /// See ``Installation/lingers``.
    public var lingers: Bool?
    /// Who it runs as.
    public var user: String
  }

  private let home: Home
  private let namesHome: Bool
  private let program: String?
  private let environment: [String: String]
  private let packagedUnit: String
  private let packagedProgram: String
  private let systemd: UserSystemd

  /// - Parameters:
  ///   - namesHome: whether somebody has said where the home is, so that the service must be told.
  ///   - environment: of the person who types.
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

  /// Where a user's own units are (systemd.unit(5)).
  private var ownUnit: String {
    HomeDirectory.resolved(UserDirectories(environment: environment).configuration + "/systemd/user")
      + "/" + UserUnit.name
  }

  /// Writes the unit, unless the package has brought one that does the same; then has it run now and at every login.
  /// A second time, it takes over what has changed.
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
    // Units name it, and it must be there when they start.
    do throws(SystemError) { try PrivateFile.makeDirectory(home.directory) } catch {
      throw .unwritable(path: home.directory, reason: error.reason)
    }
    try await systemd.call("daemon-reload")
    let ran = try await systemd.properties(of: UserUnit.name, ["ActiveState"])["ActiveState"] == "active"
    try await systemd.call("enable", "--now", UserUnit.name, limit: 660)
    // What runs was started as the unit was before.
    if ran, !wasThere { try await systemd.call("restart", UserUnit.name, limit: 660) }
    return Installation(
      unit: isPackaged ? packagedUnit : ownUnit, isPackaged: isPackaged, wasThere: wasThere && ran,
      lingers: await systemd.lingers(), user: systemd.userName)
  }

  /// Ends it and takes the unit off, if this program has written it. Nothing else is touched.
  ///
  /// - Returns: where the record is of which it was the service.
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

  /// How it goes; throws ``UserServiceError/notInstalled`` where it is none.
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

  /// Becomes `journalctl` with the service's lines; returns only where that fails.
  ///
  /// - Parameter lines: how many of the last ones.
  public func showLogs(lines: Int, follows: Bool) throws(UserServiceError) -> SystemError {
    let (path, environment) = try systemd.journal()
    let arguments = ["--user", "--unit=\(UserUnit.name)", "--lines=\(lines)"] + (follows ? ["--follow"] : [])
    return ProgramReplacement.run(path, arguments, environment: environment)
  }

  /// Two that run for one home would fight; what is a service already is not in its own way.
  private func requireNobodyElse() async throws(UserServiceError) {
    guard let holder = ServeLock.holder(of: home) else { return }
    let main = try await systemd.properties(of: UserUnit.name, ["MainPID"])["MainPID"]
    guard main.flatMap({ Int32($0) }) == holder else { throw .running(process: holder) }
  }

  /// The unit that this program has written before; `nil` where there is none. Throws for one that is somebody's own.
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

/// Why hpeer cannot be made a service of this user, or taken off again.
public enum UserServiceError: Error, Hashable, Sendable {
  /// There is no systemd here, or its programs are not in `PATH`.
  case noSystemd
  /// systemd runs nothing for this user now.
  case noManager(user: String, reason: String)
  /// There is a unit of this name that this program has not written.
  case foreignUnit(path: String)
  /// Another process serves the home or runs for it.
  case running(process: Int32)
  /// A path that a unit cannot name.
  case unusablePath(String)
  /// This program's own file cannot be told.
  case unknownProgram
  /// A file could not be written or removed.
  case unwritable(path: String, reason: String)
  /// `systemctl` refused something.
  case refused(command: String, reason: String)
  /// It is not installed.
  case notInstalled
}
