import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust
import TestSupport
import Testing

@testable import PeerServer

/// Tests over connections that break at a chosen byte. In every case the pull succeeds or gives an accurate error,
/// nothing is stored without the token that covers it, and the next pull brings exactly the rest.
@Suite("Wires that break, anywhere", .timeLimit(.minutes(5)))
struct FaultyWireTests {
  private static let seed: UInt64 = 20_260_101
  private static let samples = Samples.heartRates(110) + Samples.everyKind
  private static let batch = 20
  /// A silence limit so short that a stalled connection takes only a moment. Harmless exchanges are never that
  /// silent.
  private static let shortSilence = 1

  private static func options(derivesKeys: Bool = false) -> ServerOptions {
    var options = ServerOptions(samples: samples, derivesKeys: derivesKeys)
    options.changesPerToken = batch
    return options
  }

  /// Runs `body` for each case, a few at a time.
  private static func forEach<Case: Sendable>(
    _ cases: [Case], _ body: @escaping @Sendable (Case) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, element) in cases.enumerated() {
        if index >= 6 { try await group.next() }
        group.addTask { try await body(element) }
      }
      try await group.waitForAll()
    }
  }

  /// Returns whether an error describes a broken connection. A changed certificate or a peer that isn't hpeer would
  /// be a false alarm.
  private static func isHonest(_ error: any Error) -> Bool {
    switch error {
    case PeerError.connectionLost, PeerError.handshakeFailed, PeerError.silent, PeerError.tooSlow,
      PeerError.feed(.cutOff):
      true
    default: false
    }
  }

  // MARK: Pulling

  private struct Pulled {
    var error: (any Error)?
    var passed: [WireFault.Direction: Int]
    var hasFailed: Bool
  }

  /// Pulls over the faulty connection and then directly. Returns the result of the first pull.
  private static func pull(
    _ server: TestServer, _ record: ServerRecord, fault: WireFault?, segments: WireSegments = .asTheyCome
  ) async throws -> Pulled {
    let wire = try Relay(to: server.port, fault: fault, segments: segments)
    defer { wire.close() }
    return try await withStore { store in
      let about = Comment(rawValue: "\(fault.map(\.description) ?? "no fault") \(segments), seed \(seed)")
      var failure: (any Error)?
      do {
        _ = try await Pull(
          into: store, from: record, at: PeerEndpoint(host: "127.0.0.1", port: wire.port),
          silenceLimit: fault?.isHarmless == false ? shortSilence : 30
        ).run()
      } catch {
        failure = error
      }
      let before = try await store.total()
      #expect(before.isMultiple(of: batch) || before == samples.count, "only whole batches are stored: \(about)")
      if failure == nil { #expect(before == samples.count, about) }

      let rest = try await Pull(into: store, from: record, at: server.endpoint).run()
      #expect(rest.added == samples.count - before, "what was committed is not sent again: \(about)")
      #expect(rest.unchanged == 0, about)
      #expect(try await store.content() == server.store.content(), about)
      return Pulled(
        error: failure, passed: [.toClient: wire.passed(.toClient), .toServer: wire.passed(.toServer)],
        hasFailed: wire.hasFailed)
    }
  }

  @Test("200 faults at random bytes of a pull, the handshake and the last byte included")
  func pullOverFaultyWire() async throws {
    try await withServer(Self.options()) { server in
      let record = try await server.record().server
      let whole = try await Self.pull(server, record, fault: nil)
      #expect(whole.error == nil)
      #expect(whole.passed.values.allSatisfy { $0 > 500 })
      var generator = SeededGenerator(seed: Self.seed)
      let faults = (0..<200).map { _ in WireFault.random(in: whole.passed, using: &generator) }
      try await Self.forEach(faults) { fault in
        let pulled = try await Self.pull(server, record, fault: fault)
        if fault.isHarmless { #expect(pulled.error == nil, "\(fault), seed \(Self.seed)") }
        if let error = pulled.error {
          #expect(Self.isHonest(error), "\(fault), seed \(Self.seed): \(error)")
        } else if case .corrupt = fault.kind, pulled.hasFailed {
          // Only the farewell may be lost on anybody.
          let end = whole.passed[fault.direction] ?? 0
          #expect(fault.offset > end - 200, "a changed byte went unnoticed: \(fault), seed \(Self.seed)")
        }
      }
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test("a pull comes through in single bytes and in odd segments")
  func pullInPieces() async throws {
    try await withServer(Self.options()) { server in
      let record = try await server.record().server
      let ways = [WireSegments.single] + (1...12).map { WireSegments.odd(seed: Self.seed + $0) }
      try await Self.forEach(ways) { segments in
        let pulled = try await Self.pull(server, record, fault: nil, segments: segments)
        #expect(pulled.error == nil, "\(segments)")
      }
    }
  }

  // MARK: Pairing

  @Test("faults at random bytes of a pairing: paired, or an honest error and the next attempt pairs")
  func pairOverFaultyWire() async throws {
    try await withServer(Self.options(derivesKeys: true)) { server in
      let lengths: [WireFault.Direction: Int] = [.toClient: 5_500, .toServer: 3_000]
      var generator = SeededGenerator(seed: Self.seed)
      // One after the other: there is one window.
      for _ in 0..<16 {
        let fault = WireFault.random(in: lengths, using: &generator)
        let about = Comment(rawValue: "\(fault), seed \(Self.seed)")
        let window = try await server.desk.open()
        let wire = try Relay(to: server.port, fault: fault)
        defer { wire.close() }
        let client = try makePeerID()
        do {
          let token = try await Self.pair(
            at: PeerEndpoint(host: "127.0.0.1", port: wire.port), code: window.code, client: client,
            silenceLimit: fault.isHarmless ? 30 : Self.shortSilence)
          #expect(try await server.get(Route.types, token: token).status == 200, about)
        } catch {
          #expect(Self.isHonest(error) && !fault.isHarmless, "\(about): \(error)")
          let again = try await server.desk.open()
          let token = try await Self.pair(at: server.endpoint, code: again.code, client: client)
          #expect(try await server.get(Route.types, token: token).status == 200, about)
        }
      }
    }
  }

  private static func pair(
    at endpoint: PeerEndpoint, code: PairingCode, client: PeerID, silenceLimit: Int = 30
  ) async throws -> BearerToken {
    try await PairingSession.open(at: endpoint, silenceLimit: silenceLimit)
      .pair(code: code, clientID: client, name: "laptop").token
  }
}
