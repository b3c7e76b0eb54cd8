import Foundation
import Synchronization
import TestSupport

/// A proxy between a destination and its server that injects faults. It uses plain sockets and threads.
///
/// A request is everything that a client sends until the server answers, which suffices for clients that don't
/// pipeline requests.
final class FaultProxy: Sendable {
  enum Fault: Hashable, Sendable {
    /// Connections that are closed as soon as they are accepted.
    case away
    /// A delay of each answer.
    case slow(milliseconds: Int)
    /// An answer with this HTTP status by the proxy instead of the server.
    case status(Int, retryAfter: String? = nil)
    /// A half-closed connection: the proxy closes its sending half, reads what the client sends, and never answers.
    case halfClosed
    /// A lost answer: the server gets the request, but its answer is dropped and the connection closed.
    case lostAnswer
  }

  private struct State {
    var fault: Fault?
    /// The number of requests that pass before the fault occurs.
    var skips = 0
    /// The number of times that the fault still occurs.
    var times = 0
    var sockets: [Connection] = []
    var requests = 0
    /// A closure that is called when the request with this number arrives.
    var hook: (request: Int, body: @Sendable () -> Void)?
    /// The bytes that clients have sent, if recording is on.
    var sent: [UInt8]?
  }

  let port: Int
  private let target: Int
  private let listener: ListeningSocket
  private let state = Mutex(State())

  init(to target: Int) throws {
    self.target = target
    listener = try ListeningSocket()
    port = listener.port
    Thread.detachNewThread { [listener, weak self] in
      // It ends when the listener does.
      while let client = listener.accept() {
        guard let self, !self.isAway(), let server = TCPSocket.connect(to: target) else {
          Glibc.close(client)
          continue
        }
        self.begin(Connection(client, server))
      }
    }
  }

  deinit { close() }

  /// Sets a fault that occurs `times` times, after `skips` requests have passed, and closes open connections. `nil`
  /// removes the fault.
  func set(_ fault: Fault?, after skips: Int = 0, times: Int = .max) {
    let sockets = state.withLock { state -> [Connection] in
      (state.fault, state.skips, state.times) = (fault, skips, fault == nil ? 0 : times)
      defer { state.sockets = [] }
      return state.sockets
    }
    for socket in sockets { socket.end() }
  }

  /// Whether the fault has occurred as many times as it was set for.
  var isDone: Bool { state.withLock { $0.times == 0 } }

  /// The number of requests so far.
  var requests: Int { state.withLock(\.requests) }

  /// Calls `body` when the next request after `count` others arrives, before the server receives it.
  func atRequest(after count: Int, _ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.hook = ($0.requests + count, body) }
  }

  /// Starts to record what clients send.
  func keepWhatIsSent() { state.withLock { $0.sent = [] } }

  /// The bytes recorded since then, over all connections.
  var sent: [UInt8] { state.withLock { $0.sent ?? [] } }

  func close() {
    listener.close()
    set(nil)
  }

  private func isAway() -> Bool {
    state.withLock { state in
      guard state.fault == .away, state.times > 0 else { return false }
      state.times -= 1
      return true
    }
  }

  private func begin(_ connection: Connection) {
    state.withLock { $0.sockets.append(connection) }
    Thread.detachNewThread { [self] in
      toServer(connection)
      connection.end()
    }
    Thread.detachNewThread { [self] in
      toClient(connection)
      connection.end()
    }
  }

  // MARK: Both ways

  private func toServer(_ connection: Connection) {
    while let bytes = TCPSocket.read(connection.client) {
      state.withLock { $0.sent?.append(contentsOf: bytes) }
      var fault: Fault?
      if connection.isIdle.exchange(false, ordering: .relaxed) {
        let hook = state.withLock { state -> (@Sendable () -> Void)? in
          defer { state.requests += 1 }
          if state.skips > 0 { state.skips -= 1 } else { fault = state.fault }
          guard let hook = state.hook, hook.request == state.requests else { return nil }
          state.hook = nil
          return hook.body
        }
        hook?()
      }
      connection.fault.withLock { if let fault { $0 = fault } }
      switch fault {
      case .status(let status, let retryAfter):
        guard happens() else { break }
        var buffer = bytes
        while !Self.isWhole(buffer) {
          guard let more = TCPSocket.read(connection.client) else { return }
          buffer += more
        }
        let wait = retryAfter.map { "Retry-After: \($0)\r\n" } ?? ""
        let answer = "HTTP/1.1 \(status) No\r\n\(wait)Content-Length: 0\r\nConnection: close\r\n\r\n"
        _ = TCPSocket.write(Array(answer.utf8)[...], to: connection.client)
        return
      case .halfClosed:
        guard happens() else { break }
        shutdown(connection.client, CInt(SHUT_WR))
        while TCPSocket.read(connection.client) != nil {}
        return
      default: break
      }
      guard TCPSocket.write(bytes[...], to: connection.server) else { return }
    }
  }

  private func toClient(_ connection: Connection) {
    while let bytes = TCPSocket.read(connection.server) {
      let wasIdle = connection.isIdle.exchange(true, ordering: .relaxed)
      let fault = connection.fault.withLock { fault in
        defer { fault = nil }
        return wasIdle ? nil : fault
      }
      switch fault {
      case .lostAnswer where happens(): return
      case .slow(let milliseconds) where happens(): usleep(UInt32(milliseconds) * 1_000)
      default: break
      }
      guard TCPSocket.write(bytes[...], to: connection.client) else { return }
    }
  }

  private func happens() -> Bool {
    state.withLock { state in
      guard state.times > 0 else { return false }
      state.times -= 1
      return true
    }
  }

  /// Returns whether bytes contain a complete HTTP/1.1 request.
  private static func isWhole(_ bytes: [UInt8]) -> Bool {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
    if head.contains("transfer-encoding: chunked") { return bytes.suffix(5) == Array("0\r\n\r\n".utf8)[...] }
    let length = head.components(separatedBy: "content-length:").dropFirst().first?
      .components(separatedBy: "\r\n").first?.trimmingCharacters(in: .whitespaces)
    return bytes.count - end.upperBound >= length.flatMap(Int.init) ?? 0
  }

  /// A pair of sockets that are closed when the last thread that may use them is done.
  private final class Connection: Sendable {
    let client: Int32
    let server: Int32
    /// Whether the client's next bytes start a new request.
    let isIdle = Atomic(true)
    /// The fault that was set when the current request started.
    let fault = Mutex<Fault?>(nil)

    init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

    deinit {
      Glibc.close(client)
      Glibc.close(server)
    }

    func end() {
      for socket in [client, server] { shutdown(socket, CInt(SHUT_RDWR)) }
    }
  }
}
