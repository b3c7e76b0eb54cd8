import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust
import Testing
import TestSupport

@testable import PeerServer

/// Tests with the histories of ``ConvergenceTests`` for two machines that serve and pull over TLS on loopback.
@Suite("Convergence of served stores", .timeLimit(.minutes(5))) struct ServedConvergenceTests {
  @Test("any history of two machines that serve converges")
  func converges() async throws {
    var options = ServerOptions(derivesKeys: false)
    options.changesPerToken = 4
    let both = options
    try await withServer(both) { first in
      try await withServer(both) { second in
        let peers = [try await Peer(first), try await Peer(second)]
        for seed in 0..<20 as Range<UInt64> { try await converge(peers, seed: seed) }
      }
    }
  }

  private func converge(_ peers: [Peer], seed: UInt64) async throws {
    var held: Set<Data> = []
    for peer in peers { held.formUnion(try await peer.server.store.samplesOfFeed().values) }
    let fleet = Fleet(
      peers.enumerated().map { Machine(id: $0, store: $1.server.store) }, world: World(seed: seed), held: held
    ) { step, fleet in
      try await peers[step.from].pull(step, into: peers[step.into].server.store, fleet)
    }
    let history = History(seed: seed, kinds: History.Kinds(copies: false, faults: false), machines: 2)
    do {
      for step in history.steps { try await fleet.run(step) }
      try await fleet.settle(seed: seed)
    } catch {
      let steps = history.steps.map { "  \($0)" }.joined(separator: "\n")
      Issue.record("seed \(seed): \(error)\n\(steps)")
      throw error
    }
  }

  /// A server, and the data that the other machine needs to pull from it.
  private struct Peer: Sendable {
    let server: TestServer
    let client: PeerID
    let record: ServerRecord

    init(_ server: TestServer) async throws {
      self.server = server
      (client, record) = try await server.record()
    }

    /// Pulls over the network. If the step limits the pages of a request, the connection is cut instead.
    func pull(_ step: PullStep, into store: HealthStore, _ fleet: Fleet) async throws -> Bool {
      try await server.registry.setScope(SampleFilter(earliest: fleet.world.bounds[step.bound]), ofClient: client)
      guard step.pages < .max else { return try await pull(step, into: store, at: server.endpoint, fleet) }
      return try await withRelay(to: server.port, cutAfter: 1_500 + step.pages * 1_500) { relay in
        try await pull(step, into: store, at: PeerEndpoint(host: "127.0.0.1", port: relay.port), fleet)
      }
    }

    private func pull(
      _ step: PullStep, into store: HealthStore, at endpoint: PeerEndpoint, _ fleet: Fleet
    ) async throws -> Bool {
      let types = Array(fleet.world.selections[step.selection] ?? [])
      var meanwhile = step.meanwhile
      var failure: (any Error)?
      do {
        _ = try await Pull(into: store, from: record, at: endpoint, types: types).run(full: step.isFull) { _, _ in
          do {
            while !meanwhile.isEmpty { try await fleet.run(meanwhile.removeFirst()) }
          } catch {
            failure = error
          }
        }
        if let failure { throw failure }
        return true
      } catch let error as PeerError {
        switch error {
        case .connectionLost, .handshakeFailed, .feed(.cutOff): guard step.pages < .max else { throw error }
        // Tombstones were forgotten in the middle of it.
        case .feed(.server), .tokenGone: guard !step.meanwhile.isEmpty else { throw error }
        default: throw error
        }
        return false
      }
    }
  }
}
