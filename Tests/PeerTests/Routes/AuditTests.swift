import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import NIOCore
import PeerClient
import PeerProtocol
import PeerTrust
import Testing
import TestSupport

@testable import PeerServer

@Suite("What the audit log says afterwards")
struct AuditTests {
  @Test("pairing: the window, each failure, the success and the end, without a code or a token in any row")
  func pairing() async throws {
    try await withServer { server in
      var secrets: [String] = []
      let window = try await server.desk.open()
      secrets.append(window.code.digits)
      let wrong = try await PairingSession.open(at: server.endpoint)
      await #expect(throws: PeerError.self) {
        try await wrong.pair(code: window.code.wrong, clientID: try makePeerID(), name: "laptop")
      }
      let code = try #require(await server.desk.currentCode)
      secrets.append(code.digits)
      let session = try await PairingSession.open(at: server.endpoint)
      let paired = try await session.pair(code: code, clientID: try makePeerID(), name: "laptop")
      let id = try #require(try await server.registry.clients().first).id
      secrets.append(paired.token.text)
      let second = try await server.desk.open()
      secrets.append(second.code.digits)
      let plain = try await server.plainPair(second.code.digits).data()
      secrets.append(try #require(plain["token"] as? String))

      let records = try await eventually {
        let records = try await server.store.audit.records()
        return records.count >= 7 ? records : nil
      }
      #expect(
        records.map(\.event) == [
          "window.opened", "pairing.failed", "pairing.succeeded", "window.closed", "window.opened", "pairing.succeeded",
          "window.closed",
        ])
      #expect(records[1].detail == ["reason": "wrongCode", "attemptsLeft": "4"])
      #expect(records[2].detail == ["peer": "laptop", "id": id.hex, "method": "spake2"])
      #expect(records[3].detail == ["reason": "paired"])
      #expect(records[5].detail["method"] == "plain")
      #expect(records[5].detail["peer"] == "Mac")
      for record in records {
        let text = record.event + record.detail.map { "\($0) \($1)" }.joined(separator: " ")
        for secret in secrets { #expect(!text.contains(secret), "\(record.event)") }
      }
      #expect(try await server.store.audit.verify() == .intact(rows: records.count))
    }
  }

  @Test("a lock is written down once")
  func lock() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      _ = try await server.desk.open()
      for _ in 0..<5 {
        let code = try #require(await server.desk.currentCode)
        _ = try await server.plainPair(code.wrong.digits)
      }
      _ = try await eventually { try await server.audited(.windowLocked).first }
      let records = try await server.store.audit.records()
      #expect(
        records.map(\.event) == ["window.opened"] + Array(repeating: "pairing.failed", count: 5) + ["window.locked"])
      #expect(records.compactMap { $0.detail["attemptsLeft"] } == ["4", "3", "2", "1", "0"])
    }
  }

  @Test("reading: who, what, how much, from where to where")
  func reading() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(5))) { server in
      let (id, token) = try await server.token(name: "laptop")
      _ = try await server.get(Route.types, token: token)
      _ = try await server.get("\(Route.data)?type=heartRate&offset=1&limit=2", token: token)
      _ = try await server.get("\(Route.changes)?types=stepCount,heartRate", token: token)
      let records = try await server.store.audit.records()
      #expect(records.map(\.event) == ["types.listed", "data.read", "data.read"])
      let who = ["peer": "laptop", "id": id.hex]
      #expect(records[0].detail == who.merging(["types": "1"]) { $1 })
      #expect(records[1].detail == who.merging(["types": "heartRate", "count": "2", "offset": "1"]) { $1 })
      #expect(
        records[2].detail
          == who.merging(["types": "heartRate,stepCount", "count": "5", "from": "0", "to": "5", "complete": "true"]) {
            $1
          })
    }
  }

  @Test("a pull that breaks off is written down as incomplete, with what was sent")
  func incomplete() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(20_000))) { server in
      try await withStore { store in
        let record = try await server.record().server
        try await withRelay(to: server.port, cutAfter: 20_000) { relay in
          await #expect(throws: PeerError.self) {
            try await Pull(into: store, from: record, at: PeerEndpoint(host: "127.0.0.1", port: relay.port)).run()
          }
        }
        let read = try await eventually { try await server.audited(.dataRead).first }
        #expect(read.detail["complete"] == "false")
        let count = try #require(read.detail["count"].flatMap { Int($0) })
        #expect(count < 20_000)
      }
    }
  }

  @Test("callers without a valid token are written down once a minute for each reason, with their address")
  func refusals() async throws {
    try await withServer { server in
      let (id, revoked) = try await server.token()
      try await server.registry.revoke(id: id)
      let expired = try await server.token(expiresAt: Date() - 1).token
      for _ in 0..<5 {
        _ = try await server.get(Route.types)
        _ = try await server.get(Route.types, token: .random())
        _ = try await server.get(Route.types, token: revoked)
        _ = try await server.get(Route.changes, token: expired)
      }
      let records = try await server.store.audit.records()
      #expect(records.map(\.event) == Array(repeating: "token.refused", count: 4))
      #expect(records.map { $0.detail["reason"] } == ["missing", "unknown", "revoked", "expired"])
      #expect(records.allSatisfy { $0.detail["address"] == "127.0.0.1" })
      for record in records { #expect(!"\(record.detail)".contains(revoked.text)) }
    }
  }

  @Test("open routes leave no rows")
  func quiet() async throws {
    try await withServer { server in
      for path in [Route.status, Route.pairHello, Route.openAPI, "/nothing"] { _ = try await server.get(path) }
      #expect(try await server.store.audit.records().isEmpty)
    }
  }

  @Test("what was done is written down even for a caller that is cancelled")
  func cancelled() async throws {
    try await withServer { server in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        await server.audit.record(AuditEvent.Name.serverStopped, ["reason": "asked"])
      }
      await task.value
      let records = try await server.audited(.serverStopped)
      #expect(records.count == 1)
    }
  }
}
