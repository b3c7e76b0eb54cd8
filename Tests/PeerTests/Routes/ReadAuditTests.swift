import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Logging
import NIOHTTP1
import PeerClient
import PeerProtocol
import PeerTrust
import TestSupport
import Testing

@testable import PeerServer

@Suite("What is told of the record is on record, and reading does not fill the disk")
struct ReadAuditTests {
  private static let paths = [
    Route.types, "\(Route.data)?type=heartRate&limit=1", "\(Route.changes)?limit=1", Route.status,
  ]

  @Test("2,000 reads in a minute are a handful of rows, and none of them is lost")
  func flood() async throws {
    var options = ServerOptions(samples: Samples.heartRates(3))
    options.auditMinute = .seconds(3600)
    try await withServer(options) { server in
      let token = try await server.token(scope: SampleFilter(types: [Samples.heartRate])).token
      try await withThrowingTaskGroup { group in
        for path in Self.paths {
          group.addTask {
            try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
              for _ in 0..<500 {
                let head = try await connection.send(
                  .GET, path, headers: [("Authorization", "Bearer \(token.text)"), ("Accept", "application/x-ndjson")])
                #expect(head.status == .ok)
                _ = try await connection.body(limit: 1 << 20)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      // Types and status are kinds of their own, data and changes are one.
      let (records, open) = try await server.store.audit.log()
      #expect(records.count == 3)
      #expect((records + open).reduce(0) { $0 + $1.times } == 2_000)
      await server.audit.record(AuditEvent.Name.serverStopped)
      let sealed = try await server.store.audit.records()
      #expect(sealed.count == 7)
      #expect(sealed.reduce(0) { $0 + $1.times } == 2_001)
      #expect(try await server.store.audit.verify() == .intact(rows: 7))
      // The log of writes is used again and again.
      let bytes = try ["", "-wal"].reduce(0) { sum, suffix in
        let size = try FileManager.default.attributesOfItem(atPath: server.store.path + suffix)[.size] as? Int
        return sum + (size ?? 0)
      }
      #expect(bytes < 8 << 20)
    }
  }

  @Test("a minute that is over is put into the log while the server runs, and what is left when it stops")
  func sealing() async throws {
    var options = ServerOptions()
    options.auditMinute = .milliseconds(300)
    try await withServer(options) { server in
      let token = try await server.token().token
      for _ in 0..<3 { _ = try await server.get(Route.types, token: token) }
      let records = try await eventually {
        let (records, open) = try await server.store.audit.log()
        return open.isEmpty && records.reduce(0) { $0 + $1.times } == 3 ? records : nil
      }
      #expect(records.allSatisfy { $0.event == "types.listed" })
    }
  }

  @Test("the log takes the time of a minute from a clock that nobody sets")
  func clock() async throws {
    try await withStore { store in
      let clock = ManualClock()
      let audit = AuditTrail(store: store, logger: Logger(label: "test"), clock: clock)
      let client = AuthorizedClient(
        id: try makePeerID(), name: "laptop", token: BearerToken.random().hash, scope: ClientScope(.everything),
        isForeign: false)
      for _ in 0..<180 {
        try await audit.listed(client, types: 1)
        clock.advance(by: .seconds(1))
      }
      #expect(try await store.audit.records().map(\.times) == [1, 59, 1, 59, 1])
    }
  }

  /// All paths, with queries that succeed.
  private static let requests: [String] = PeerServer.methods.keys.flatMap { path in
    switch path {
    case Route.data: ["\(path)?type=heartRate", "\(path)?type=stepCount&offset=1", path]
    case Route.digest: [path, "\(path)?deep=true", "\(path)?types=heartRate"]
    case Route.statistics: [path, "\(path)?types=heartRate", "\(path)?types=sleepAnalysis"]
    case Route.changes: [path, "\(path)?types=heartRate&limit=1", "\(path)?wait=1"]
    default: [path]
    }
  }.sorted()

  @Test("what tells a caller anything is written down: all others are answered as if there were nothing")
  func everyRoute() async throws {
    let id: PeerIdentity = try await withTemporaryDirectory { try await IdentityStore.loadOrCreate(in: $0) }
    var (full, empty) = (ServerOptions(samples: Samples.everyKind), ServerOptions())
    (full.identity, empty.identity) = (id, id)
    (full.derivesKeys, empty.derivesKeys) = (false, false)
    let nothing = empty
    try await withServer(full) { server in
      try await withServer(nothing) { other in
        let (token, otherToken) = (try await server.token().token, try await other.token().token)
        for path in Self.requests {
          for method in [HTTPMethod.GET, .HEAD] {
            let before = try await server.store.audit.records().count
            let answer = try await server.request(method, path, token: token)
            if try await server.store.audit.records().count > before { continue }
            let without = try await other.request(method, path, token: otherToken)
            #expect(answer.status == without.status, "\(method) \(path)")
            #expect(Self.comparable(answer.headers) == Self.comparable(without.headers), "\(method) \(path)")
            #expect(answer.body == without.body, "\(method) \(path)")
          }
        }
      }
    }
  }

  private static func comparable(_ headers: HTTPHeaders) -> [String] {
    // Two servers are two machines.
    headers.filter { !["date", "hpeer-machine"].contains($0.name.lowercased()) }.map {
      "\($0.name.lowercased()): \($0.value)"
    }.sorted()
  }
}
