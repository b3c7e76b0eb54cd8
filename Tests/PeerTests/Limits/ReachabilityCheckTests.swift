import NIOConcurrencyHelpers
import PeerProtocol
import PeerTrust
import TestSupport
import Testing

@testable import PeerServer

@Suite("How often a machine is reached back for", .timeLimit(.minutes(5)))
struct ReachabilityCheckTests {
  private static let reached = PairingView.Following(endpoint: "192.168.1.7:8737", outcome: .reached)

  private static func server() throws -> ServerRecord {
    ServerRecord(
      id: try makePeerID(), name: "laptop", fingerprint: Fingerprint(certificateDER: [1]),
      credential: BearerCredential(.random()))
  }

  @Test("one attempt in a while for each machine, whose outcome is told again meanwhile")
  func pause() async throws {
    let clock = ManualClock()
    let attempts = NIOLockedValueBox<[PeerID]>([])
    let way = ReachabilityCheck(
      { server in
        attempts.withLockedValue { $0.append(server.id) }
        return Self.reached
      }, clock: clock)
    let (laptop, attic) = (try Self.server(), try Self.server())
    for _ in 0..<5 { #expect(await way.following(laptop) == Self.reached) }
    #expect(await way.following(attic) == Self.reached)
    #expect(attempts.withLockedValue(\.self) == [laptop.id, attic.id])
    clock.advance(by: ReachabilityCheck.pause - .milliseconds(1))
    _ = await way.following(laptop)
    #expect(attempts.withLockedValue(\.count) == 2)
    clock.advance(by: .milliseconds(1))
    _ = await way.following(laptop)
    #expect(attempts.withLockedValue(\.self) == [laptop.id, attic.id, laptop.id])
  }

  @Test("one at a time, and none for longer than it may take")
  func hanging() async throws {
    let clock = ManualClock()
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let way = ReachabilityCheck(
      { _ in
        begin.yield()
        // Until it is cancelled.
        try? await Task.sleep(for: .seconds(3600))
        return Self.reached
      }, clock: clock)
    let laptop = try Self.server()
    async let first = way.following(laptop)
    _ = await begun.first { _ in true }
    #expect(await way.following(laptop).outcome == .untried)
    _ = try await eventually { clock.sleepers > 0 ? true : nil }
    clock.advance(by: ReachabilityCheck.patience)
    #expect(await first.outcome == .unreachable)
    // And the next one may try again in time, not at once.
    #expect(await way.following(laptop).outcome == .unreachable)
  }

  @Test("while an attempt goes on that cannot be ended no other begins, and what comes of it is not told")
  func endless() async throws {
    let clock = ManualClock()
    let attempts = NIOLockedValueBox<[CheckedContinuation<Void, Never>]>([])
    let isOver = NIOLockedValueBox(false)
    let way = ReachabilityCheck(
      { _ in
        if isOver.withLockedValue(\.self) { return Self.reached }
        await withCheckedContinuation { attempt in attempts.withLockedValue { $0.append(attempt) } }
        return .init(endpoint: nil, outcome: .notTLS)
      }, clock: clock)
    let laptop = try Self.server()
    async let first = way.following(laptop)
    _ = try await eventually { clock.sleepers > 0 && attempts.withLockedValue(\.count) == 1 ? true : nil }
    clock.advance(by: ReachabilityCheck.patience)
    #expect(await first.outcome == .unreachable)
    clock.advance(by: ReachabilityCheck.pause)
    #expect(await way.following(laptop).outcome == .untried)
    #expect(attempts.withLockedValue(\.count) == 1)
    isOver.withLockedValue { $0 = true }
    for attempt in attempts.withLockedValue(\.self) { attempt.resume() }
    _ = try await eventually { await way.following(laptop).outcome == .reached ? true : nil }
  }

  @Test("that the caller has gone is not told as that the machine was not reached")
  func callerGone() async throws {
    let clock = ManualClock()
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let attempts = NIOLockedValueBox(0)
    let way = ReachabilityCheck(
      { _ in
        let isFirst = attempts.withLockedValue { count in
          count += 1
          return count == 1
        }
        begin.yield()
        if isFirst { try? await Task.sleep(for: .seconds(3600)) }
        return Self.reached
      }, clock: clock)
    let laptop = try Self.server()
    let asking = Task { await way.following(laptop) }
    _ = await begun.first { _ in true }
    asking.cancel()
    #expect(await asking.value.outcome == .untried)
    _ = try await eventually { await way.following(laptop).outcome == .reached ? true : nil }
  }

  @Test("nothing is tried by a server that was not told how")
  func nothing() async throws {
    #expect(await ReachabilityCheck(nil).following(try Self.server()).outcome == .untried)
  }
}
