import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust
import Synchronization
import Terminal

/// Pulls from one server and tells about it.
struct Puller {
  let store: HealthStore
  let registry: PeerRegistry
  let finder: PeerFinder
  let identity: PeerIdentity
  let types: [SampleType]
  let full: Bool
  let json: Bool
  /// Seconds without a byte after which the other machine counts as gone.
  let timeout: Int
  /// The same for all pulls of a command, which may merge persons once.
  let persons: PersonCheck
  /// Compares afterwards; `nil` to do without.
  var verifier: Verifier?

  func pull(_ server: ServerRecord, endpoints: [PeerEndpoint]) async throws {
    let pulled = try await fetch(server, endpoints: endpoints)
    guard let verifier else { return try pulled.print(json: json) }
    try await pull(pulled, endpoints: endpoints, until: verifier)
  }

  /// Brings the store up to date; asks, where there is somebody to ask, whether both records are of one person.
  func fetch(_ server: ServerRecord, endpoints: [PeerEndpoint]) async throws -> PullPresentation {
    try await settlingPerson(of: server) { try await fetchOnce(server, endpoints: endpoints) }
  }

  private func fetchOnce(_ server: ServerRecord, endpoints: [PeerEndpoint]) async throws -> PullPresentation {
    let started = ContinuousClock.now
    let bar = ProgressBar(
      label: PlainText.escaped(server.name, limit: 20), patience: .seconds(timeout), capabilities: Console.capabilities)
    let progress = ProgressBox()
    try await store.record(AuditEvent(.pullStarted, ["peer": server.name, "id": server.id.hex]))
    do {
      let (done, endpoint) = try await interruptible {
        try await finder.reach(server, endpoints: endpoints) { endpoint, handshakeLimit in
          try await PeerClient.Pull(
            into: store, from: server, at: endpoint, identity: identity, types: types, ownName: Hostname.short,
            silenceLimit: timeout, handshakeLimit: handshakeLimit, persons: persons,
            heard: { bar.update(bytes: $0) }
          ).run(full: full) { done, total in
            progress.set(done)
            bar.setTotal(items: total)
            bar.update(items: done.changes, bytes: done.bytes)
          }
        }
      }
      bar.finish()
      async let noted: Void = note(server, at: endpoint, name: done.peerName)
      try await record(.pullFinished, server, done)
      try await noted
      return PullPresentation(server: server, done: done, duration: started.duration(to: .now))
    } catch {
      bar.finish()
      if case PeerError.tokenRefused? = error as? PeerError { await explain(server, endpoints) }
      let done = progress.value
      try await record(.pullFailed, server, done, reason: (error as? PeerError)?.auditReason ?? "other")
      throw done.changes > 0 ? Self.partial(error, done) : error
    }
  }

  /// Where it was found, what it is called by now, and that its token was used.
  func note(_ server: ServerRecord, at endpoint: PeerEndpoint, name: String?) async throws {
    if let name, name != server.name {
      try await registry.renameServer(id: server.id, to: name)
      try await store.record(AuditEvent(.peerRenamed, ["peer": name, "id": server.id.hex, "before": server.name]))
      Console.say("\(PlainText.escaped(server.name)) is called \(PlainText.escaped(name)) now.")
    }
    try await registry.updateServer(id: server.id, host: endpoint.host, port: UInt16(endpoint.port))
    try await registry.markServerUsed(id: server.id, expires: server.expiry(usedAt: Date()))
  }

  /// A token that is refused as expired may be a clock's fault, and nobody would look there.
  func explain(_ server: ServerRecord, _ endpoints: [PeerEndpoint]) async {
    guard let endpoint = endpoints.first else { return }
    let status = try? await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(server.fingerprint, peer: server.name)
    ) { connection in try await connection.status() }
    if let status { ClockCheck.warn(about: status) }
  }

  func record(
    _ name: AuditEvent.Name, _ server: ServerRecord, _ done: PullProgress, reason: String? = nil
  ) async throws {
    var detail = [
      "peer": server.name, "id": server.id.hex, "added": String(done.added), "deleted": String(done.deleted),
      "unchanged": String(done.unchanged), "bytes": String(done.bytes), "requests": String(done.requests),
    ]
    detail["reason"] = reason
    try await store.record(AuditEvent(name, detail))
  }

  /// A pull that the network or the other machine ended after something was committed.
  private static func partial(_ error: any Error, _ done: PullProgress) -> any Error {
    switch (error as? PeerError)?.category {
    case .unreachable, .interrupted, .failing, .malformed:
      CommandFailure(
        .partial, "\(ErrorText.sentence(error)) \(HumanFormat.count(done.changes, "change")) arrived and are saved.")
    case .certificateChanged, .refused, .anotherPerson, .temporary, nil: error
    }
  }
}

/// The latest progress, for the report of a pull that fails.
private final class ProgressBox: Sendable {
  private let box = Mutex(PullProgress())
  var value: PullProgress { box.withLock { $0 } }
  func set(_ progress: PullProgress) { box.withLock { $0 = progress } }
}
