import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import PeerClient
import PeerProtocol
import PeerServer
import Testing

@testable import PeerTrust

/// Tests of the built server under more load than a household can produce.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LoadTests {
  private static let clients = 200
  private static let idle = 2_000
  private static let samples = 1_000
  /// The maximum memory of a server, whatever clients do.
  private static let maximumMegabytes = 160

  @Test("200 pulls at once beside 2,000 idle connections: each is right, and others are answered meanwhile")
  func manyClients() async throws {
    try #require(raiseDescriptorLimit() >= 4_096, "the test itself needs 4,096 descriptors: raise ulimit -Hn")
    let server = try await LoadedServer(samples: Self.samples, clients: Self.clients)
    var report = "load: \(server.megabytes) MB at rest"

    let crowd = try await server.openIdle(Self.idle)
    defer { for channel in crowd { channel.close(promise: nil) } }
    report += ", \(server.megabytes) MB with \(Self.idle) idle connections"

    let clock = ContinuousClock()
    let isOver = NIOLockedValueBox(false)
    let watching = Task {
      var (count, slowest) = (0, Duration.zero)
      while !isOver.withLockedValue({ $0 }) {
        slowest = max(slowest, try await clock.measure { try await server.status() })
        count += 1
        try await Task.sleep(for: .milliseconds(50))
      }
      return (count, slowest)
    }
    let started = clock.now
    // The order of a line's members differs from pull to pull, its length does not; some are read to the last sample.
    let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
      for (number, token) in server.tokens.enumerated() {
        group.addTask {
          let feed = try await server.feed(token)
          if number.isMultiple(of: 20) { #expect(try LoadedServer.contents(of: feed) == server.expected) }
          return feed.count
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let duration = clock.now - started
    isOver.withLockedValue { $0 = true }
    let (answers, slowest) = try await watching.value

    #expect(sizes.count == Self.clients && Set(sizes).count == 1)
    #expect(answers > 0)
    let peak = server.peakMegabytes
    #expect(peak < Self.maximumMegabytes)
    // Those that said nothing at all may be gone; those that had asked something are within their minute.
    if duration < .seconds(30) { #expect(crowd.filter(\.isActive).count >= Self.idle / 2) }
    let megabytes = Double(sizes.reduce(0, +)) / 1_000_000
    report += ", peak \(peak) MB; \(Self.clients) pulls of \(Self.samples) samples in \(duration)"
    report += ", \(megabytes.rounded()) MB; slowest of \(answers) status answers \(slowest)"
    print(report)
  }

  @Test("a client that asks on 400 connections and reads nothing holds little, and keeps nobody waiting but itself")
  func unreadAnswers() async throws {
    try #require(raiseDescriptorLimit() >= 1_024)
    let server = try await LoadedServer(samples: 12_000, bytesEach: 2_000, clients: 2)
    let pull =
      "GET \(Route.changes) HTTP/1.1\r\nHost: a\r\nAccept: \(ChangeFeedFormat.lines.rawValue)\r\nAuthorization: Bearer \(server.tokens[0].text)\r\n\r\n"
    var crowd: [any Channel] = []
    defer { for channel in crowd { channel.close(promise: nil) } }
    for _ in 0..<400 {
      let channel = try await server.connect(tls: true)
      crowd.append(channel)
      try await channel.writeAndFlush(ByteBuffer()).get()
      try await channel.setOption(.autoRead, value: false).get()
      channel.writeAndFlush(ByteBuffer(string: String(repeating: pull, count: 8)), promise: nil)
    }
    for _ in 0..<3 {
      #expect(try LoadedServer.contents(of: try await server.feed(server.tokens[1])) == server.expected)
      try await server.status(server.tokens[1])
    }
    #expect(server.peakMegabytes < Self.maximumMegabytes)
    let begun = try await server.events(.readStarted, of: "client 0")
    #expect(begun >= 1 && begun <= ServingLimits().answersPerClient)
    print("load: peak \(server.peakMegabytes) MB beside a client that reads nothing, \(begun) answers begun")
  }

  @Test("a server that has run out of descriptors accepts again when there are some")
  func descriptorExhaustion() async throws {
    try #require(raiseDescriptorLimit() >= 1_024)
    // Fewer than the server would like to keep for itself.
    let server = try await LoadedServer(samples: 10, clients: 1, descriptors: 56)
    var crowd: [any Channel] = []
    for _ in 0..<200 { crowd.append(try await server.connect(tls: false)) }
    for channel in crowd { channel.close(promise: nil) }
    for channel in crowd { try? await channel.closeFuture.get() }
    try await eventually("it answers again") {
      do {
        try await server.status()
        return true
      } catch is PeerError {
        return nil
      }
    }
    #expect(try LoadedServer.contents(of: try await server.feed(server.tokens[0])) == server.expected)
    #expect(server.isRunning)
  }
}

/// An `hpeer serve` process with its own store and with paired clients.
private struct LoadedServer: Sendable {
  let tokens: [BearerToken]
  let expected: [SampleReference: Sample]
  private let scratch: Scratch
  private let process: RunningCommand
  private let endpoint: PeerEndpoint
  private let trust: CertificateTrust
  private let tls: NIOSSLContext

  /// - Parameters:
  ///   - bytesEach: The number of bytes of incompressible metadata in each sample.
  ///   - descriptors: The server's limit of open files, or `nil` for the limit of this process.
  init(samples: Int, bytesEach: Int = 0, clients: Int, descriptors: Int? = nil) async throws {
    scratch = try Scratch()
    let host = scratch.host("studio")
    let made = Self.samples(samples, bytesEach: bytesEach)
    try FileManager.default.createDirectory(
      atPath: host.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try await HealthStore(directory: host.home).apply(ChangeBatch(additions: made))
    expected = Dictionary(uniqueKeysWithValues: made.map { ($0.reference, $0) })
    let registry = try await PeerRegistry.open(in: URL(fileURLWithPath: host.home))
    var tokens: [BearerToken] = []
    for number in 0..<clients {
      let token = BearerToken.random()
      let bytes = (0..<PeerID.byteCount).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) }
      try await registry.addClient(
        PairedClient(
          id: try #require(PeerID(bytes: bytes)), name: "client \(number)", tokenHash: token.hash, method: .spake2,
          pairedAt: Date(), expiresAt: Date() + 3600))
      tokens.append(token)
    }
    self.tokens = tokens
    let limit = descriptors.map { "ulimit -n \($0); " } ?? ""
    process = try RunningCommand([
      "bash", "-c", "\(limit)exec \"$0\" serve --port 0 --no-advertise --home \"$1\"", Build.hpeer, host.home,
    ])
    scratch.keep(process)
    let port = try await process.errors(matching: #/on port (\d+)/#)
    let certificate = try await process.errors(matching: #/Certificate ([0-9a-f]{64})/#)
    endpoint = PeerEndpoint(host: "127.0.0.1", port: try #require(Int(port.1)))
    trust = .pinned(try #require(Fingerprint(hex: String(certificate.1))), peer: "studio")
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .none
    tls = try NIOSSLContext(configuration: configuration)
  }

  private static func samples(_ count: Int, bytesEach: Int) -> [Sample] {
    var generator = SystemRandomNumberGenerator()
    func filler() -> String {
      (0..<bytesEach / 16).map { _ in
        let digits = String(generator.next(), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
    }
    return (0..<count).map { number in
      let start = Timestamp(seconds: 1_700_000_000 + Int64(number) * 60)
      return Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: start, end: start,
        source: Source(name: "Watch"), metadata: bytesEach > 0 ? ["filler": .string(filler())] : [:],
        payload: .quantity(Quantity(Double(number), "count/min")))
    }
  }

  // MARK: What clients do

  /// Requests the status over a new connection, as the first client unless given a token. A token is needed because
  /// the crowd has used up the requests allowed to strangers.
  func status(_ token: BearerToken? = nil) async throws {
    let headers = [("Authorization", "Bearer \((token ?? tokens[0]).text)")]
    try await PeerConnection.withConnection(to: endpoint, trust: trust) { connection in
      let head = try await connection.send(.GET, Route.status, headers: headers)
      let body = try await connection.body(limit: 4_096)
      #expect(head.status.code == 200 && !body.isEmpty)
    }
  }

  static func contents(of feed: Data) throws -> [SampleReference: Sample] {
    var decoder = ChangeLineDecoder()
    var contents: [SampleReference: Sample] = [:]
    for case .added(let sample, _, _) in try feed.withUnsafeBytes({ try decoder.decode($0) }) {
      contents[sample.reference] = sample
    }
    return contents
  }

  func feed(_ token: BearerToken) async throws -> Data {
    try await PeerConnection.withConnection(to: endpoint, trust: trust) { connection in
      let head = try await connection.send(
        .GET, Route.changes,
        headers: [("Authorization", "Bearer \(token.text)"), ("Accept", ChangeFeedFormat.lines.rawValue)])
      #expect(head.status.code == 200)
      return try await connection.body(limit: 64 << 20)
    }
  }

  func connect(tls isTLS: Bool) async throws -> any Channel {
    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { [tls] channel in
        channel.eventLoop.makeCompletedFuture {
          guard isTLS else { return }
          try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nil))
        }
      }
      .connectTimeout(.seconds(30))
      .connect(host: "127.0.0.1", port: endpoint.port).get()
  }

  /// Opens idle connections. Half of them are silent TCP connections, the rest TLS connections that go silent after a
  /// request.
  func openIdle(_ count: Int) async throws -> [any Channel] {
    try await withThrowingTaskGroup(of: [any Channel].self) { group in
      for _ in 0..<20 {
        group.addTask {
          var channels: [any Channel] = []
          for number in 0..<count / 20 {
            let channel = try await connect(tls: number % 2 == 0)
            if number % 2 == 0 {
              try await channel.writeAndFlush(
                ByteBuffer(string: "GET /pair/v1/hello HTTP/1.1\r\nHost: a\r\n\r\n")
              ).get()
            }
            channels.append(channel)
          }
          return channels
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// Returns how often the audit log has an event of this name for a client.
  func events(_ name: AuditEvent.Name, of client: String) async throws -> Int {
    let store = try HealthStore(directory: scratch.host("studio").home)
    let records = try await store.audit.records()
    return records.filter { $0.event == name.rawValue && $0.detail["peer"] == client }.reduce(0) { $0 + $1.times }
  }

  // MARK: The process

  var isRunning: Bool { kill(process.pid, 0) == 0 }

  /// The current resident memory.
  var megabytes: Int { memory("VmRSS:") }
  /// The peak resident memory.
  var peakMegabytes: Int { memory("VmHWM:") }

  private func memory(_ field: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
    return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
  }
}

/// Raises the limit of open files for this process to its maximum.
private func raiseDescriptorLimit() -> UInt64 {
  var limit = rlimit()
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  guard getrlimit(resource, &limit) == 0 else { return 0 }
  limit.rlim_cur = min(limit.rlim_max, 65_536)
  return setrlimit(resource, &limit) == 0 ? UInt64(limit.rlim_cur) : 0
}
