import NIOCore
import PeerProtocol
import Testing

@testable import PeerServer

@Suite("Requests without a token")
struct RequestBudgetTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  private static func limits(burst: Int, perSecond: Int = 1) -> ServingLimits {
    var limits = ServingLimits()
    limits.requestBurst = burst
    limits.requestsPerSecond = perSecond
    return limits
  }

  @Test("an address has a burst, then so many a second, and no other address pays for it")
  func bucket() {
    let budget = RequestBudget(Self.limits(burst: 3, perSecond: 2))
    let (one, other) = (AddressGroup.ipv4(1), AddressGroup.ipv4(2))
    for _ in 0..<3 { #expect(budget.take(one, now: Self.start) == nil) }
    #expect(budget.take(one, now: Self.start) == 1)
    #expect(budget.take(other, now: Self.start) == nil)
    #expect(budget.take(one, now: Self.start + .milliseconds(500)) == nil)
    #expect(budget.take(one, now: Self.start + .milliseconds(600)) == 1)
    // However long it was quiet, the burst is all there is.
    for _ in 0..<3 { #expect(budget.take(one, now: Self.start + .hours(1)) == nil) }
    #expect(budget.take(one, now: Self.start + .hours(1)) != nil)
  }

  @Test("the seconds to wait are enough")
  func retryAfter() throws {
    var limits = Self.limits(burst: 1)
    limits.requestsPerSecond = 1
    let budget = RequestBudget(limits)
    #expect(budget.take(.ipv4(1), now: Self.start) == nil)
    let seconds = try #require(budget.take(.ipv4(1), now: Self.start))
    #expect(budget.take(.ipv4(1), now: Self.start + .seconds(Int64(seconds))) == nil)
  }

  @Test("the table is bounded, and forgets whoever has been quiet longest")
  func bounded() {
    var limits = Self.limits(burst: 1)
    limits.accountedAddresses = 100
    let budget = RequestBudget(limits)
    let busy = AddressGroup.ipv6(7)
    for number in 0..<10_000 {
      let now = Self.start + .microseconds(Int64(number))
      #expect(budget.take(.ipv4(UInt32(number)), now: now) == nil)
      // Asks all the time, so it is never forgotten and never allowed again.
      #expect((budget.take(busy, now: now) == nil) == (number == 0))
      #expect(budget.count <= 100)
    }
  }

  @Test("429 says when to come back; whoever has a token is served meanwhile, from the same address")
  func answers() async throws {
    let limits = Self.limits(burst: 5)
    try await withServer(ServerOptions(samples: Samples.heartRates(3), serving: limits)) { server in
      let token = try await server.token().token
      let refused = try await eventually { () -> Answer? in
        let answer = try await server.get(Route.pairHello)
        return answer.status == 429 ? answer : nil
      }
      #expect(refused.headers.first(name: "Retry-After").flatMap { Int($0) } == 1)
      #expect(try refused.failure().hasPrefix("Too many requests"))
      for _ in 0..<20 { #expect(try await server.get(Route.changes, token: token).status == 200) }
      #expect(try await server.get(Route.status, token: token).status == 200)
    }
  }

  @Test("guessing tokens uses the budget up, and then costs a connection each")
  func guesses() async throws {
    try await withServer(ServerOptions(serving: Self.limits(burst: 3))) { server in
      let token = String(repeating: "a", count: 43)
      let guess = "GET \(Route.changes) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n"
      // The server hangs up by itself.
      let answer = try await rawExchange(server.port, String(repeating: guess, count: 10))
      #expect((3...5).contains(answer.components(separatedBy: "HTTP/1.1 401 ").count - 1))
      #expect(answer.components(separatedBy: "HTTP/1.1 429 ").count == 2)
      // A token that means nothing does not open the way to pairing either.
      let pairing = try await rawExchange(
        server.port,
        String(
          repeating: "GET \(Route.pairHello) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n", count: 10))
      #expect(pairing.components(separatedBy: "HTTP/1.1 429 ").count == 2)
    }
  }

  @Test("pairing, wrong codes and all, stays far below it")
  func pairing() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      for _ in 0..<30 {
        let status = try await server.get(Route.pairHello).status
        #expect(status == 200)
      }
    }
  }
}
