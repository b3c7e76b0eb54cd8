import Foundation
import Synchronization
import TestSupport

@testable import Destinations

/// An in-memory WebDAV server whose support of RFC 4918 can be configured.
final class ScriptedDAV: Sendable {
  struct Manners: Sendable {
    var heedsConditions = false
    /// Whether each write arrives twice, through a proxy that forwards the second answer.
    var getsWritesTwice = false
    /// The content of the DAV header.
    var classes = "1"
    /// Whether a write under a lock is answered with a page, as by a proxy whose session has ended.
    var showsPageUnderLock = false
    /// Whether locked resources are protected. If not, every lock is granted, as on servers that do so to satisfy
    /// certain clients.
    var meansLocks = true
    /// The timeout that is granted.
    var timeout = "Second-30"
    /// Whether every lock is answered with 201 and creates an empty file if there is none.
    var createsWithLocks = false
    /// The number of locks that are lost before a file is written under them. Apache then reports an error for the
    /// parent.
    var lostLocks = 0
  }

  private struct State {
    var files: [String: [UInt8]] = [:]
    /// The lock tokens, by the locked name.
    var locks: [String: String] = [:]
    var tokens = 0
    var refreshes = 0
    var lostLocks = 0

    /// - Returns: Whether the lock that a request names is gone.
    mutating func loseLock(_ condition: String?, _ manners: Manners) -> Bool {
      guard let condition, lostLocks < manners.lostLocks else { return false }
      lostLocks += 1
      locks = locks.filter { !condition.contains($0.value) }
      return true
    }
  }

  private static let lockIsLost = """
    <?xml version="1.0" encoding="utf-8"?>
    <D:multistatus xmlns:D="DAV:">
    <D:response><D:href>/a/b</D:href><D:status>HTTP/1.1 424 Failed Dependency</D:status></D:response>
    <D:response><D:href>/a</D:href><D:status>HTTP/1.1 412 Precondition Failed</D:status></D:response>
    </D:multistatus>
    """

  private let state = Mutex(State())
  private let box = Mutex<RawEndpoint?>(nil)
  let port: Int

  /// - Parameter beforePut: A closure called with a file's name before it is written, on the server's thread.
  init(_ manners: Manners, beforePut: @escaping @Sendable (ScriptedDAV, String) -> Void = { _, _ in }) throws {
    let server = Mutex<ScriptedDAV?>(nil)
    let endpoint = try RawEndpoint { exchange in
      guard let dav = server.withLock(\.self) else { return .close }
      return dav.answer(exchange, manners, beforePut)
    }
    port = endpoint.port
    box.withLock { $0 = endpoint }
    server.withLock { $0 = self }
  }

  var url: String { "http://127.0.0.1:\(port)/" }
  var files: [String: [UInt8]] { state.withLock(\.files) }
  var refreshes: Int { state.withLock(\.refreshes) }
  var isLocked: Bool { state.withLock { !$0.locks.isEmpty } }
  var requests: [RawEndpoint.Request] { box.withLock { $0?.requests ?? [] } }

  private func answer(
    _ exchange: RawEndpoint.Exchange, _ manners: Manners, _ beforePut: (ScriptedDAV, String) -> Void
  ) -> RawEndpoint.Next {
    let (method, target) = (exchange.request.method, exchange.request.target)
    let headers = exchange.request.headers
    func mayWrite(_ state: State) -> Bool {
      !manners.meansLocks
        || state.locks.allSatisfy { !target.hasPrefix($0.key) || headers["if"]?.contains($0.value) == true }
    }
    switch method {
    case "OPTIONS": return exchange.answer(200, ["DAV": manners.classes])
    case "MKCOL": return exchange.answer(201)
    case "GET":
      guard let bytes = files[target] else { return exchange.answer(404) }
      return exchange.answer(200, ["ETag": "W/\"1\""], String(decoding: bytes, as: UTF8.self))
    case "PUT" where manners.showsPageUnderLock && headers["if"] != nil:
      return exchange.answer(200, ["Content-Type": "text/html"], "<html>Log in</html>")
    case "PUT", "DELETE":
      if manners.heedsConditions, headers["if-none-match"] == "*", files[target] != nil { return exchange.answer(412) }
      if state.withLock({ $0.loseLock(headers["if"], manners) }) { return exchange.answer(207, [:], Self.lockIsLost) }
      beforePut(self, target)
      let isDone = state.withLock { state in
        guard mayWrite(state) else { return false }
        state.files[target] = method == "PUT" ? exchange.request.body : nil
        return true
      }
      let isRepeated = manners.getsWritesTwice && headers["if-none-match"] == "*"
      return exchange.answer(isDone ? isRepeated ? 412 : 201 : 423)
    case "LOCK":
      let token = state.withLock { state -> String? in
        if let condition = headers["if"] {
          guard let token = state.locks[target], condition.contains(token) else { return nil }
          state.refreshes += 1
          return token
        }
        if manners.meansLocks, state.locks.keys.contains(where: { target.hasPrefix($0) || $0.hasPrefix(target) }) {
          return nil
        }
        state.tokens += 1
        let token = "<opaquelocktoken:\(state.tokens)>"
        state.locks[target] = token
        if manners.createsWithLocks, !target.hasSuffix("/"), state.files[target] == nil { state.files[target] = [] }
        return token
      }
      guard let token else { return exchange.answer(headers["if"] == nil ? 423 : 412) }
      let status = manners.createsWithLocks && headers["if"] == nil ? 201 : 200
      return exchange.answer(
        status, ["Lock-Token": token], "<D:timeout xmlns:D=\"DAV:\">\(manners.timeout)</D:timeout>")
    case "UNLOCK":
      state.withLock { state in
        if let held = state.locks[target], held == headers["lock-token"] { state.locks[target] = nil }
      }
      return exchange.answer(200)
    default: return exchange.answer(405)
    }
  }
}
