import Foundation
import HealthModel
import HealthStore
import NIOCore
import NIOFoundationCompat
import NIOPosix
import NIOSSL
import PeerClient
import PeerProtocol
import PeerServer
import PeerTrust
import TestSupport
import Testing

/// Tests of the whole server with a hostile client that is driven by a seed. `HPEER_SEEDS=10000` runs more seeds,
/// `HPEER_SEED=N` a given seed.
@Suite("Whatever a client sends", .timeLimit(.minutes(60)))
struct HostileClientTests {
  /// A type that no client in this test is allowed to see.
  private static let secret = "HKQuantityTypeIdentifierSecret"

  private static var seeds: Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["HPEER_SEED"].flatMap({ UInt64($0) }) { return seed..<seed + 1 }
    return 0..<(environment["HPEER_SEEDS"].flatMap { UInt64($0) } ?? 300)
  }

  private static var samples: [Sample] {
    let hidden = (0..<20).map { Samples.quantity(SampleType(secret), 31_337.25, secret, at: Samples.noon + $0) }
    let pressure = Samples.sample(
      Samples.bloodPressure, .correlation(Correlation(members: hidden.prefix(2).map(\.reference))))
    let run = Samples.sample(
      .workout,
      .workout(
        Workout(
          activityType: .value(37), totals: ["total\(secret)": Quantity(31_337.25, "m")],
          statistics: [WorkoutStatistics(type: SampleType(secret), sum: 31_337.25)])))
    return Samples.heartRates(300) + hidden + [pressure, run]
  }

  @Test("traps nothing, shows nothing beyond the scope, changes nothing, and costs no more than the budget")
  func seeds() async throws {
    var limits = ServingLimits()
    // Strangers, too, shall come as far as the routes.
    (limits.requestBurst, limits.requestsPerSecond) = (1_000_000, 1_000_000)
    try await withServer(ServerOptions(samples: Self.samples, serving: limits, derivesKeys: false)) { server in
      let scope = SampleFilter(types: [Samples.heartRate, Samples.bloodPressure, .workout])
      let scoped = try await server.token(scope: scope).token.text
      let revoked = try await server.token(name: "lost")
      try await server.registry.revoke(id: revoked.id)
      let expired = try await server.token(name: "old", expiresAt: Date() - 1).token.text
      let tokens = [
        scoped, scoped, scoped, scoped, revoked.token.text, expired, "", String(repeating: "A", count: 700),
      ]
      let (anchor, clients) = (try await server.store.feed.currentAnchor(), try await server.registry.clients().count)
      let before = try Self.peakKilobytes()

      let conversations = try AnswerReader()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, seed) in Self.seeds.enumerated() {
          if index >= Self.atATime { try await group.next() }
          group.addTask {
            var client = HostileClient(seed: seed, tokens: tokens)
            let answer = try await conversations.answer(to: client.conversation(), at: server.port)
            Self.check(answer, of: seed)
          }
        }
        try await group.waitForAll()
      }

      #expect(try await server.get(Route.status).status == 200)
      #expect(try await server.store.feed.currentAnchor() == anchor)
      #expect(try await server.registry.clients().count == clients)
      guard case .intact = try await server.store.audit.verify() else {
        Issue.record("the audit log is broken")
        return
      }
      let grown = try Self.peakKilobytes() - before
      #expect(grown < 100 * 1024, "\(grown) KiB")
    }
  }

  /// All statuses that a server may return. A 500 is a bug.
  private static let statuses: Set<String> = [
    "100", "200", "400", "401", "403", "404", "405", "408", "410", "411", "412", "413", "415", "417", "423", "429",
    "431",
    "501", "503", "505",
  ]

  /// The number of concurrent exchanges.
  private static let atATime = 8

  /// Checks an answer. The bytes are searched directly, because there are many long answers.
  private static func check(_ answer: ByteBuffer, of seed: UInt64) {
    for word in ["Secret", "31337"] { #expect(places(of: word, in: answer).isEmpty, "seed \(seed)") }
    for place in places(of: "\r\nHTTP/1.", in: answer) + (answer.readableBytes > 0 ? [-2] : []) {
      let status = answer.getString(at: place + 11, length: 3) ?? "none"
      #expect(statuses.contains(status), "seed \(seed): \(status)")
    }
  }

  private static func places(of word: String, in answer: ByteBuffer) -> [Int] {
    var (found, rest) = ([Int](), Data(buffer: answer))
    let word = Data(word.utf8)
    while let place = rest.range(of: word) {
      found.append(place.lowerBound)
      rest = rest[place.upperBound...]
    }
    return found
  }

  private static func peakKilobytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
  }
}

/// A client that sends a sequence of bytes and collects the answer.
private struct AnswerReader {
  private let context: NIOSSLContext

  init() throws {
    context = try NIOSSLContext(configuration: try clientTLS(offering: [], showing: nil))
  }

  /// Returns the bytes received until the server closes the connection or has had time to answer. A server may wait
  /// for input that doesn't come.
  func answer(to pieces: [ByteBuffer], at port: Int) async throws -> ByteBuffer {
    let (stream, received) = AsyncStream.makeStream(of: ByteBuffer.self)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { [context] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            NIOSSLClientHandler(context: context, serverHostname: nil), Collector(received))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    for piece in pieces { channel.writeAndFlush(piece, promise: nil) }
    async let answer = stream.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
    try await Task.sleep(for: .milliseconds(30))
    channel.close(promise: nil)
    return await answer
  }
}

/// A handler that forwards received bytes to a stream and finishes it on errors and at the end of the connection.
private final class Collector: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let received: AsyncStream<ByteBuffer>.Continuation

  init(_ received: AsyncStream<ByteBuffer>.Continuation) {
    self.received = received
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { received.yield(unwrapInboundIn(data)) }

  func channelInactive(context: ChannelHandlerContext) { received.finish() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
