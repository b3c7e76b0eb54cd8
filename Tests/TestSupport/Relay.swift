import Foundation
import Synchronization

/// A TCP relay on loopback that forwards opaque bytes, counts them, and adds delays and faults on demand.
///
/// It uses plain sockets and threads, so that bytes leave exactly as and when they were written.
public final class Relay: Sendable {
  /// The traffic of a relay.
  public struct Counts: Hashable, Sendable {
    public var connections = 0
    /// The number of bytes in both directions.
    public var bytes = 0
    /// The number of bursts from the client: bytes that arrived in a single read, such as one or more requests or a
    /// part of a request.
    public var sends = 0

    public init() {}
  }

  /// The port to which clients connect.
  public let port: Int
  private let target: Int
  private let oneWay: Duration
  private let segments: WireSegments
  private let limit: Int
  private let listener: ListeningSocket
  private let state: Mutex<State>

  private struct State {
    var fault: WireFault?
    var counts = Counts()
    var connectionCount = 0
    var passed: [WireFault.Direction: Int] = [:]
    var connections: [Connection] = []
    var isClosed = false
  }

  /// - Parameters:
  ///   - target: The server's port on loopback.
  ///   - roundTrip: The delay added between a request and its response.
  ///   - limit: The number of bytes to a client after which its connection ends.
  public init(
    to target: Int, roundTrip: Duration = .zero, cutAfter limit: Int = .max, fault: WireFault? = nil,
    segments: WireSegments = .asTheyCome
  ) throws {
    self.target = target
    self.segments = segments
    self.limit = limit
    oneWay = roundTrip / 2
    state = Mutex(State(fault: fault))
    listener = try ListeningSocket()
    port = listener.port
    Thread.detachNewThread { [weak self, listener] in
      // It ends when the listener does.
      while let client = listener.accept() {
        guard let self, let server = TCPSocket.connect(to: target) else {
          Glibc.close(client)
          continue
        }
        self.begin(Connection(client: client, server: server))
      }
    }
  }

  deinit { close() }

  /// Returns the number of bytes that went in a direction so far, over all connections.
  public func passed(_ direction: WireFault.Direction) -> Int { state.withLock { $0.passed[direction] ?? 0 } }

  /// The number of connections accepted so far.
  public var connections: Int { state.withLock(\.connectionCount) }

  /// Returns the traffic since the last call.
  public func take() -> Counts {
    state.withLock { state in
      defer { state.counts = Counts() }
      return state.counts
    }
  }

  /// Whether the fault has occurred. Also `true` if none was set.
  public var hasFailed: Bool { state.withLock { $0.fault == nil } }

  /// Closes the listener and every connection.
  public func close() {
    let connections = state.withLock { state -> [Connection] in
      guard !state.isClosed else { return [] }
      state.isClosed = true
      listener.close()
      defer { state.connections = [] }
      return state.connections
    }
    for connection in connections { connection.end() }
  }

  private func begin(_ connection: Connection) {
    let isClosed = state.withLock { state in
      state.connectionCount += 1
      state.counts.connections += 1
      state.connections.append(connection)
      return state.isClosed
    }
    if isClosed { return connection.end() }
    // Over a real cable the handshake of TCP takes a round trip of its own before the client can send.
    let open = ContinuousClock.now + oneWay * 2
    for direction in WireFault.Direction.allCases {
      Thread.detachNewThread { [self] in
        if oneWay > .zero { delay(connection, direction, open: open) } else { pump(connection, direction) }
      }
    }
  }

  // MARK: Passing on

  private func pump(_ connection: Connection, _ direction: WireFault.Direction) {
    let (from, to) = connection.ends(direction)
    var sizes = SeededGenerator(seed: 0)
    if case .odd(let seed) = segments { sizes = SeededGenerator(seed: seed) }
    while let bytes = TCPSocket.read(from) {
      count(bytes, direction)
      var rest = bytes[...]
      while !rest.isEmpty {
        let size =
          switch segments {
          case .asTheyCome: rest.count
          case .single: 1
          case .odd: Int.random(in: 1...1_400, using: &sizes)
          }
        guard pass(rest.prefix(size), connection, direction) else { return }
        rest = rest.dropFirst(size)
      }
    }
    shutdown(to, CInt(SHUT_WR))
  }

  private func count(_ bytes: [UInt8], _ direction: WireFault.Direction) {
    state.withLock { state in
      state.counts.bytes += bytes.count
      if direction == .toServer { state.counts.sends += 1 }
    }
  }

  /// Forwards bytes with a delay. A second thread writes, so that each byte waits only for its own due time. The line
  /// holds more than any rate here times the delay; beyond that, a receiver that doesn't read stops the sender.
  private func delay(_ connection: Connection, _ direction: WireFault.Direction, open: ContinuousClock.Instant) {
    let line = DelayLine()
    let (from, to) = connection.ends(direction)
    Thread.detachNewThread {
      while let bytes = line.take(), TCPSocket.write(bytes[...], to: to) {}
      shutdown(to, CInt(SHUT_WR))
      line.close()
      withExtendedLifetime(connection) {}
    }
    while let bytes = TCPSocket.read(from) {
      count(bytes, direction)
      line.put(bytes, due: max(.now, open) + oneWay)
    }
    line.put([], due: .now + oneWay)
  }

  /// Forwards a segment, or the part of it that the fault leaves. Returns `false` if nothing more may follow.
  private func pass(_ segment: ArraySlice<UInt8>, _ connection: Connection, _ direction: WireFault.Direction) -> Bool {
    let (_, to) = connection.ends(direction)
    var segment = segment
    if direction == .toClient, limit < .max {
      let left = limit - connection.toClient.add(segment.count, ordering: .relaxed).oldValue
      if left <= segment.count {
        _ = TCPSocket.write(segment.prefix(max(0, left)), to: to)
        connection.end()
        return false
      }
    }
    let (fault, place) = state.withLock { state -> (WireFault.Kind?, Int) in
      let begin = state.passed[direction] ?? 0
      state.passed[direction] = begin + segment.count
      guard let fault = state.fault, fault.direction == direction, fault.offset - begin < segment.count else {
        return (nil, 0)
      }
      state.fault = nil
      return (fault.kind, segment.startIndex + max(0, fault.offset - begin))
    }
    switch fault {
    case nil: return TCPSocket.write(segment, to: to)
    case .close:
      _ = TCPSocket.write(segment[..<place], to: to)
      connection.end()
      return false
    case .reset:
      _ = TCPSocket.write(segment[..<place], to: to)
      connection.reset()
      return false
    case .stall:
      _ = TCPSocket.write(segment[..<place], to: to)
      return false
    case .corrupt(let mask):
      segment[place] ^= mask
      return TCPSocket.write(segment, to: to)
    case .duplicate:
      return TCPSocket.write(segment, to: to) && TCPSocket.write(segment, to: to)
    case .pause(let milliseconds):
      guard TCPSocket.write(segment[..<place], to: to) else { return false }
      usleep(UInt32(milliseconds) * 1_000)
      return TCPSocket.write(segment[place...], to: to)
    }
  }

  /// A pair of sockets that are closed when the last thread that may use them is done.
  private final class Connection: Sendable {
    let client: Int32
    let server: Int32
    /// The number of bytes sent to the client so far.
    let toClient = Atomic(0)

    init(client: Int32, server: Int32) {
      self.client = client
      self.server = server
    }

    deinit {
      Glibc.close(client)
      Glibc.close(server)
    }

    func ends(_ direction: WireFault.Direction) -> (from: Int32, to: Int32) {
      direction == .toClient ? (server, client) : (client, server)
    }

    func end() {
      for socket in [client, server] { shutdown(socket, CInt(SHUT_RDWR)) }
    }

    func reset() {
      for socket in [client, server] { TCPSocket.reset(socket) }
    }
  }
}
