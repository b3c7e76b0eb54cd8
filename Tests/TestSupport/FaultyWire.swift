import Foundation
import Synchronization

/// A TCP relay on loopback that passes on what it cannot read, and breaks as it is told to.
///
/// Plain sockets and threads, so that what leaves is exactly what was written, when it was written.
public final class FaultyWire: Sendable {
  /// Where clients connect.
  public let port: Int
  private let target: Int
  private let listener: Int32
  private let state: Mutex<State>

  private struct State {
    var fault: WireFault?
    let segments: WireSegments
    var passed: [WireFault.Direction: Int] = [:]
    var connections: [Connection] = []
    var isClosed = false
  }

  /// - Parameter target: the server's port on loopback.
  public init(to target: Int, fault: WireFault? = nil, segments: WireSegments = .asTheyCome) throws {
    self.target = target
    state = Mutex(State(fault: fault, segments: segments))
    listener = try TCPSocket.make()
    port = try TCPSocket.listen(listener)
    let (listener, target) = (listener, target)
    Thread.detachNewThread { [weak self] in
      // It ends when the listener does.
      while let client = TCPSocket.accept(listener) {
        guard let self, let server = TCPSocket.connect(to: target) else {
          Glibc.close(client)
          continue
        }
        self.begin(Connection(client: client, server: server))
      }
      Glibc.close(listener)
    }
  }

  deinit { close() }

  /// Bytes that went in a direction so far, over all connections.
  public func passed(_ direction: WireFault.Direction) -> Int { state.withLock { $0.passed[direction] ?? 0 } }

  /// Whether the fault has happened.
  public var hasFailed: Bool { state.withLock { $0.fault == nil } }

  /// Ends the listener and every connection.
  public func close() {
    let connections = state.withLock { state -> [Connection] in
      guard !state.isClosed else { return [] }
      state.isClosed = true
      shutdown(listener, CInt(SHUT_RDWR))
      defer { state.connections = [] }
      return state.connections
    }
    for connection in connections { connection.end() }
  }

  private func begin(_ connection: Connection) {
    let isClosed = state.withLock { state in
      state.connections.append(connection)
      return state.isClosed
    }
    if isClosed { return connection.end() }
    for direction in WireFault.Direction.allCases {
      Thread.detachNewThread { [self] in pump(connection, direction) }
    }
  }

  // MARK: Passing on

  private func pump(_ connection: Connection, _ direction: WireFault.Direction) {
    let (from, to) = connection.ends(direction)
    var sizes = SeededGenerator(seed: 0)
    let segments = state.withLock { $0.segments }
    if case .odd(let seed) = segments { sizes = SeededGenerator(seed: seed) }
    while let bytes = TCPSocket.read(from) {
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

  /// Passes on one segment, or what the fault leaves of it; `false` if nothing more may follow.
  private func pass(_ segment: ArraySlice<UInt8>, _ connection: Connection, _ direction: WireFault.Direction) -> Bool {
    let (_, to) = connection.ends(direction)
    var segment = segment
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

  /// Closed when the last thread that may use it is done.
  private final class Connection: Sendable {
    let client: Int32
    let server: Int32

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
