import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust

/// An app has no way to be told that a pairing is over: its token stays valid until its owner ends that there.
public struct UntoldApp: Error, Hashable, Sendable {
  /// What the phone is called here.
  public let server: String
  /// What the app is called.
  public let app: String
}

extension UntoldApp: CustomStringConvertible {
  public var description: String {
    "\(app) cannot be told; what it gave this machine stays valid there until the pairings are revoked, or the app is removed, on the phone."
  }
}

/// Forgets a machine that this one pulls from, and has it forget this one. What was pulled stays.
public struct UnpairOperation: Sendable {
  private let local: LocalPeer
  private let finder: PeerFinder

  /// - Parameters:
  ///   - local: whose registry forgets the other machine, and whose audit log has that.
  ///   - finder: looks for the other machine where it is not at its last address any more.
  public init(_ local: LocalPeer, finder: PeerFinder) {
    self.local = local
    self.finder = finder
  }

  /// - Parameter untold: told why the other machine could not be, which then still lets this one's token in. It is
  ///   forgotten all the same.
  public func run(_ server: ServerRecord, untold: (any Error) -> Void = { _ in }) async throws {
    if !server.traits.canBeTold {
      untold(UntoldApp(server: server.name, app: server.dialect))
      return try await forget(server)
    }
    do {
      _ = try await finder.reach(server, endpoints: PeerFinder.hint(of: server)) { endpoint in
        try await Unpair.tell(server, at: endpoint, identity: local.identity)
      }
    } catch {
      try Task.checkCancellation()
      untold(error)
    }
    try await forget(server)
  }

  private func forget(_ server: ServerRecord) async throws {
    try await uncancelled {
      try await local.registry.removeServer(id: server.id)
      try await local.store.activities.remove(PullOperation.activity(of: server))
      try await local.store.audit.record(
        AuditEvent(.pairingEnded, ["peer": server.name, "id": server.id.hex, "by": "here"]))
    }
  }
}
