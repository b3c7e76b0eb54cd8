import Foundation
import HealthStore
import OperatingSystem
import PeerTrust

/// Where everything of one user's hpeer lives.
public struct Home: Sendable {
  /// The store, the identity and the registry of peers: what a backup needs. Without symbolic links.
  public let directory: String
  /// The folder of `config.toml` and of secrets: what a person writes. Without symbolic links.
  public let configuration: String
  /// The Unix socket of a running server.
  public let socketPath: String
  private let whileLocked: (@Sendable (_ holder: String?) -> Void)?

  /// - Parameters:
  ///   - path: takes precedence over `HPEER_HOME`, and that over the XDG directories.
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

  /// ``directory`` for what takes a file URL. Whether it is there yet is not asked.
  public var url: URL { URL(fileURLWithPath: directory, isDirectory: true) }

  /// The store that exists here. Throws ``StoreError/missing(path:)`` before the first import or pull. Blocking.
  public func openStore() throws(StoreError) -> HealthStore {
    try HealthStore(directory: directory, create: false, whileLocked: whileLocked, space: DiskSpace.init(path:))
  }

  /// The store that exists here, to look at it only: also one that cannot be written, or whose disk has no room. Blocking.
  public func openStoreForReading() throws(StoreError) -> HealthStore {
    guard HealthStore.isWritable(in: directory) else { return try HealthStore(readOnlyIn: directory) }
    do throws(StoreError) {
      return try openStore()
    } catch .diskFull {
      return try HealthStore(readOnlyIn: directory)
    }
  }

  /// The store that exists here, to copy out of it what the audit log is to hold, unless nothing can be written there at all: a
  /// disk that is full only now hides no access (``withReserve(keeping:_:)``).
  public func openStoreForCopying() async throws -> HealthStore {
    try await withReserve(keeping: RoomReserve.forTheMostUrgent) {
      try await onThread { _ in
        try HealthStore.isWritable(in: directory) ? openStore() : HealthStore(readOnlyIn: directory)
      }
    }
  }

  /// Does what must be done on a full disk, too: room that was kept for that (``RoomReserve``) is given back.
  ///
  /// - Parameter kept: how many bytes of it are not.
  public func withReserve<Result: Sendable>(
    keeping kept: Int = 0, _ body: () async throws -> Result
  ) async throws -> Result {
    try await RoomReserve(directory: directory).released(keeping: kept, where: Self.isDiskFull, body)
  }

  private static func isDiskFull(_ error: any Error) -> Bool {
    switch error {
    case StoreError.diskFull, PeerRegistryError.diskFull: true
    default: false
    }
  }

  /// The same, or `nil` before the first import or pull. Blocking.
  public func openStoreForReadingIfThere() throws(StoreError) -> HealthStore? {
    try Self.ifThere(openStoreForReading)
  }

  /// The store that exists here, or `nil` before the first import or pull. Blocking.
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

  /// The store here, which is made where there is none. Blocking.
  public func createStore() throws(StoreError) -> HealthStore {
    try HealthStore(directory: directory, whileLocked: whileLocked, space: DiskSpace.init(path:))
  }

  /// Who is paired with this machine, also where nothing can be written.
  public func paired() async throws -> (clients: [ClientRecord], servers: [ServerRecord]) {
    let registry = try await openRegistryForReading()
    return (try await registry.clients(), try await registry.servers())
  }

  /// Throws ``PeerRegistryError``.
  public func openRegistry() async throws -> PeerRegistry {
    try await PeerRegistry.open(in: url)
  }

  /// The registry to look at, which is not made where there is none. Throws ``PeerRegistryError``.
  public func openRegistryForReading() async throws -> PeerRegistry {
    try await PeerRegistry.openForReading(in: url)
  }

  /// The certificate by which other machines know this one, which is made where there is none. Throws ``IdentityError``.
  public func identity() async throws -> PeerIdentity {
    try await IdentityStore.loadOrCreate(in: url)
  }
}

/// Where a user's files belong: XDG Base Directory Specification 0.8.
///
/// A variable that is empty counts as unset, and one of the XDG ones that is not absolute is ignored.
struct UserDirectories {
  private let environment: [String: String]

  init(environment: [String: String]) {
    self.environment = environment
  }

  /// `XDG_DATA_HOME`.
  var data: String { absoluteValue(of: "XDG_DATA_HOME") ?? home + "/.local/share" }

  /// `XDG_CONFIG_HOME`.
  var configuration: String { absoluteValue(of: "XDG_CONFIG_HOME") ?? home + "/.config" }

  /// `XDG_RUNTIME_DIR`, which has no default.
  var runtime: String? { absoluteValue(of: "XDG_RUNTIME_DIR") }

  /// `HOME`, else what the password file says.
  var home: String { absoluteValue(of: "HOME") ?? NSHomeDirectory() }

  /// A variable that is set and not empty.
  func value(of name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A path as a person gives it: from the current directory, or with `~` for this user's own.
  func absolute(_ path: String) -> String {
    if path == "~" || path.hasPrefix("~/") { return home + path.dropFirst() }
    return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  private func absoluteValue(of name: String) -> String? {
    value(of: name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}
