import ArgumentParser
import Foundation
import HealthStore
import OperatingSystem
import PeerTrust
import Terminal

/// Where everything of one user's hpeer lives.
struct Home {
  /// The store, the identity and the registry of peers: what a backup needs. Without symbolic links.
  let directory: String
  /// The Unix socket of a running server.
  let socketPath: String

  /// `--home` before `HPEER_HOME` before the XDG directories.
  init(option: String?) {
    let base = UserDirectories(environment: ProcessInfo.processInfo.environment)
    if let path = option ?? base.value(of: "HPEER_HOME") {
      directory = HomeDirectory.resolved(base.absolute(path))
      socketPath = directory + "/control.sock"
    } else {
      directory = HomeDirectory.resolved(base.data + "/hpeer")
      socketPath = base.runtime.map { $0 + "/hpeer.sock" } ?? directory + "/control.sock"
    }
  }

  var url: URL { URL(fileURLWithPath: directory, isDirectory: true) }

  /// The store that exists here. Throws ``StoreError/missing(path:)`` before the first import or pull.
  func openStore() throws(StoreError) -> HealthStore {
    try HealthStore(directory: directory, create: false, whileLocked: Self.sayLocked)
  }

  /// The store that exists here, for a command that only looks at it: also one that cannot be written.
  func openStoreForReading() throws(StoreError) -> HealthStore {
    try HealthStore.isWritable(in: directory) ? openStore() : HealthStore(readOnlyIn: directory)
  }

  func createStore() throws(StoreError) -> HealthStore {
    try HealthStore(directory: directory, whileLocked: Self.sayLocked)
  }

  @Sendable private static func sayLocked(_ holder: String?) {
    let holder = PlainText.escaped(holder ?? "another process")
    Console.say("Waiting for \(holder), which is writing to this store, for up to \(Int(HealthStore.busyTimeout)) s.")
  }

  /// Who is paired with this machine, also where nothing can be written.
  func paired() async throws -> (clients: [ClientRecord], servers: [ServerRecord]) {
    guard PeerRegistry.isWritable(in: url) else {
      let found = try await PeerRegistry.inspect(in: url)
      return (found?.clients ?? [], found?.servers ?? [])
    }
    let registry = try await openRegistry()
    return (try await registry.clients(), try await registry.servers())
  }

  func openRegistry() async throws -> PeerRegistry {
    try await PeerRegistry.open(in: url)
  }

  func identity() async throws -> PeerIdentity {
    try await IdentityStore.loadOrCreate(in: url)
  }
}

/// Options that every command has.
struct CommonOptions: ParsableArguments {
  @Option(help: "Keep everything in this directory instead of the XDG ones (also: HPEER_HOME).")
  var home: String?

  func validate() throws {
    // An empty variable in a script must not lead to another record.
    if home?.isEmpty == true { throw ValidationError("--home takes a directory.") }
  }

  var homeDirectory: Home { Home(option: home) }
}

/// For commands that can print one JSON object instead of text for people.
struct JSONOption: ParsableArguments {
  @Flag(help: "Print one JSON object on standard output instead of text.")
  var json = false
}
