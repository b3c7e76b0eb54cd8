import Foundation
import HealthStore
import OperatingSystem
import PeerTrust

/// The directories and the socket path of one user's hpeer.
public struct Home: Sendable {
  /// The directory of the store, the identity and the peer registry, all of which a backup contains. Has no symbolic
  /// links.
  public let directory: String
  /// The directory of `config.toml` and of secrets, which the user writes. Symbolic links are resolved.
  public let configuration: String
  /// The path of a running server's Unix socket.
  public let socketPath: String
  private let whileLocked: (@Sendable (_ holder: String?) -> Void)?

  /// Resolves the directories without creating or opening anything.
  ///
  /// - Parameters:
  ///   - path: takes precedence over `HPEER_HOME`, which takes precedence over the XDG directories.
  ///   - whileLocked: see ``HealthStore/init(directory:create:busyTimeout:whileLocked:)``.
  public init(
    path: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
    whileLocked: (@Sendable (_ holder: String?) -> Void)? = nil
  ) {
    let base = UserDirectories(environment: environment)
    if let path = path ?? base.value(of: "HPEER_HOME") {
      directory = HomeDirectory.resolved(base.absolute(path))
      configuration = directory
      socketPath = directory + "/control.sock"
    } else {
      directory = HomeDirectory.resolved(base.data + "/hpeer")
      configuration = HomeDirectory.resolved(base.configuration + "/hpeer")
      let own = directory + "/control.sock"
      // A system unit has no XDG_RUNTIME_DIR, while the user who talks to its server has.
      socketPath = PrivateFile.exists(own) ? own : base.runtime.map { $0 + "/hpeer.sock" } ?? own
    }
    self.whileLocked = whileLocked
  }

  /// A file URL of ``directory``, which may not exist yet.
  public var url: URL { URL(fileURLWithPath: directory, isDirectory: true) }

  /// Opens the existing store. Throws ``StoreError/missing(path:)`` before the first import or pull. Blocking.
  public func openStore() throws(StoreError) -> HealthStore {
    try HealthStore(directory: directory, create: false, whileLocked: whileLocked, space: DiskSpace.init(path:))
  }

  /// Opens the existing store for reading. Also works if it is not writable or its disk is full. Blocking.
  public func openStoreForReading() throws(StoreError) -> HealthStore {
    guard HealthStore.isWritable(in: directory) else { return try HealthStore(readOnlyIn: directory) }
    do throws(StoreError) {
      return try openStore()
    } catch .diskFull {
      return try HealthStore(readOnlyIn: directory)
    }
  }

  /// Opens the existing store to read samples whose release must be recorded in the audit log, or read-only if the
  /// store is not writable. If the disk is full, reserved space is released so that the access can still be recorded
  /// (``withReserve(keeping:_:)``).
  public func openStoreForCopying() async throws -> HealthStore {
    try await withReserve(keeping: DiskSpaceReserve.forTheMostUrgent) {
      try await onThread { _ in
        try HealthStore.isWritable(in: directory) ? openStore() : HealthStore(readOnlyIn: directory)
      }
    }
  }

  /// Runs `body`. If the disk is full, releases space from ``DiskSpaceReserve`` and runs `body` again.
  ///
  /// - Parameter kept: the number of reserved bytes that must not be released.
  public func withReserve<Result: Sendable>(
    keeping kept: Int = 0, _ body: () async throws -> Result
  ) async throws -> Result {
    try await DiskSpaceReserve(directory: directory).released(keeping: kept, where: Self.isDiskFull, body)
  }

  private static func isDiskFull(_ error: any Error) -> Bool {
    switch error {
    case StoreError.diskFull, PeerRegistryError.diskFull: true
    default: false
    }
  }

  /// Opens the existing store for reading, or returns `nil` before the first import or pull. Blocking.
  public func openStoreForReadingIfThere() throws(StoreError) -> HealthStore? {
    try Self.ifThere(openStoreForReading)
  }

  /// Opens the existing store, or returns `nil` before the first import or pull. Blocking.
  public func openStoreIfThere() throws(StoreError) -> HealthStore? {
    try Self.ifThere(openStore)
  }

  private static func ifThere(_ open: () throws(StoreError) -> HealthStore) throws(StoreError) -> HealthStore? {
    do throws(StoreError) {
      return try open()
    } catch .missing {
      return nil
    }
  }

  /// Opens the store, and creates it first if there is none. Blocking.
  public func createStore() throws(StoreError) -> HealthStore {
    try HealthStore(directory: directory, whileLocked: whileLocked, space: DiskSpace.init(path:))
  }

  /// Returns the clients and servers paired with this machine. This also works if nothing can be written.
  public func paired() async throws -> (clients: [ClientRecord], servers: [ServerRecord]) {
    let registry = try await openRegistryForReading()
    return (try await registry.clients(), try await registry.servers())
  }

  /// Opens the peer registry. Throws ``PeerRegistryError``.
  public func openRegistry() async throws -> PeerRegistry {
    try await PeerRegistry.open(in: url)
  }

  /// Opens the peer registry for reading, without creating it. Throws ``PeerRegistryError``.
  public func openRegistryForReading() async throws -> PeerRegistry {
    try await PeerRegistry.openForReading(in: url)
  }

  /// Returns this machine's key and certificate, and creates them if there are none. Throws ``IdentityError``.
  public func identity() async throws -> PeerIdentity {
    try await IdentityStore.loadOrCreate(in: url)
  }
}

/// The directories of a user's files, according to the XDG Base Directory Specification 0.8.
///
/// A variable that is empty counts as unset, and an XDG variable that is not an absolute path is ignored.
struct UserDirectories {
  private let environment: [String: String]

  init(environment: [String: String]) {
    self.environment = environment
  }

  /// `XDG_DATA_HOME`, or `~/.local/share`.
  var data: String { absoluteValue(of: "XDG_DATA_HOME") ?? home + "/.local/share" }

  /// `XDG_CONFIG_HOME`, or `~/.config`.
  var configuration: String { absoluteValue(of: "XDG_CONFIG_HOME") ?? home + "/.config" }

  /// `XDG_RUNTIME_DIR`, which has no default.
  var runtime: String? { absoluteValue(of: "XDG_RUNTIME_DIR") }

  /// `HOME`, or the home directory in the password file.
  var home: String { absoluteValue(of: "HOME") ?? NSHomeDirectory() }

  /// Returns the value of a variable, or `nil` if the variable is unset or empty.
  func value(of name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the absolute path for a typed path, which is relative to the current directory, or to the home after
  /// `~`.
  func absolute(_ path: String) -> String {
    if path == "~" || path.hasPrefix("~/") { return home + path.dropFirst() }
    return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  private func absoluteValue(of name: String) -> String? {
    value(of: name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}
