import HealthModel
import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust

/// An error for a comparison of two stores that was cancelled. Nothing was changed.
public struct VerificationCancelled: Error, Hashable, Sendable {}

/// An operation that compares a store with a paired server's, and records that in the audit log.
public struct VerifyOperation: Sendable {
  private let local: LocalPeer
  private let finder: PeerFinder
  private let types: [SampleType]
  private let isDeep: Bool
  private let silenceLimit: Int
  private let progress: any ProgressObserver

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - types: the types to compare; empty for all that the server allows.
  ///   - isDeep: also compares the content of samples, which reads all of them.
  ///   - silenceLimit: seconds without a byte after which the server counts as gone.
  public init(
    _ local: LocalPeer, finder: PeerFinder, types: [SampleType] = [], isDeep: Bool = false,
    silenceLimit: Int = PeerConnection.silenceLimit, progress: any ProgressObserver = NoProgress()
  ) {
    self.local = local
    self.finder = finder
    self.types = types
    self.isDeep = isDeep
    self.silenceLimit = silenceLimit
    self.progress = progress
  }

  /// Compares the stores. A difference is not an error. Throws ``PeerError``, ``PeerFinderError``, ``StoreError``, or
  /// ``VerificationCancelled`` when the task is cancelled.
  ///
  /// - Parameter endpoints: the last known addresses; the server is discovered if none of them is right any more.
  public func run(with server: ServerRecord, at endpoints: [PeerEndpoint]) async throws -> Verification {
    let stage = progress.begin(ProgressStage(.verifying(with: server.name)))
    defer { stage.finish() }
    do {
      let (verification, endpoint) = try await finder.reach(server, endpoints: endpoints) { endpoint in
        try await Verify(
          local.store, with: server, at: endpoint, identity: local.identity, types: types, isDeep: isDeep,
          silenceLimit: silenceLimit
        ).run { progress in
          stage.setTotal(items: progress.total)
          stage.update(items: progress.samples, bytes: 0)
        }
      }
      try await uncancelled {
        try await local.registry.updateServer(id: server.id, host: endpoint.host, port: UInt16(endpoint.port))
        try await record(
          .verifyFinished, server,
          [
            "equal": String(verification.isEqual), "samples": String(verification.here.samples.count),
            "differences": String(verification.differences.count), "deep": String(isDeep),
          ].merging(verification.unread.isEmpty ? [:] : ["unread": String(verification.unread.count)]) { $1 })
      }
      return verification
    } catch {
      let error: any Error = Task.isCancelled ? VerificationCancelled() : error
      try await uncancelled {
        try await record(.verifyFailed, server, ["reason": (error as? PeerError)?.auditReason ?? "other"])
      }
      throw error
    }
  }

  private func record(
    _ name: AuditEvent.Name, _ server: ServerRecord, _ detail: [String: String]
  ) async throws {
    let who = ["peer": server.name, "id": server.id.hex]
    try await local.store.audit.record(AuditEvent(name, detail.merging(who) { $1 }))
  }
}

extension PullOperation {
  /// The maximum number of comparisons with a server that keeps changing.
  private static let maximumRounds = 3

  /// Pulls and compares, and repeats both while a pull brings changes that the server received in between.
  ///
  /// Throws the errors of ``run(from:at:)`` and ``VerifyOperation/run(with:at:)``.
  public func run(
    from server: ServerRecord, at endpoints: [PeerEndpoint], comparingBy verify: VerifyOperation
  ) async throws -> (PullResult, Verification) {
    var result = try await run(from: server, at: endpoints)
    var verification = try await verify.run(with: server, at: endpoints)
    var rounds = 1
    while !verification.isEqual, rounds < Self.maximumRounds {
      let more = try await run(from: server, at: endpoints)
      guard more.done.added + more.done.deleted > 0 else { break }
      result.append(more)
      verification = try await verify.run(with: server, at: endpoints)
      rounds += 1
    }
    return (result, verification)
  }
}
