import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust

/// An error for an app that cannot be told of the end of a pairing. The token stays valid until revoked on the phone.
public struct UnpairingNotSupported: Error, Hashable, Sendable {
  /// The phone's name on this machine.
  public let server: String
  /// The name of the app.
  public let app: String
}

extension UnpairingNotSupported: CustomStringConvertible {
  public var description: String {
    "\(app) cannot be told; what it gave this machine stays valid there until the pairings are revoked, or the app is removed, on the phone."
  }
}

/// An operation that removes a server from this machine, and this machine from the server. Pulled samples stay.
public struct UnpairOperation: Sendable {
  private let local: LocalPeer
  private let finder: PeerFinder

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - local: its registry removes the server, and its audit log records that.
  ///   - finder: discovers the server if its address has changed.
  public init(_ local: LocalPeer, finder: PeerFinder) {
    self.local = local
    self.finder = finder
  }

  /// Ends the pairing with a server.
  ///
  /// - Parameter untold: called with the error if the server could not be notified. The server then still accepts
  ///   this machine's token, but is removed here all the same.
  public func run(_ server: ServerRecord, untold: (any Error) -> Void = { _ in }) async throws {
    if !server.traits.canBeTold {
      untold(UnpairingNotSupported(server: server.name, app: server.dialect))
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
