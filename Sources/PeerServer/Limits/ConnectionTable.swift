import PeerProtocol
import Synchronization

/// The table of a server's connections. It selects the connection to close when there are too many.
///
/// Strangers make room for strangers: the oldest idle connection of the address that has the most is closed for a new
/// one. A new caller therefore always gets a turn, however many idle connections others leave open. Once a connection
/// has shown a valid token, it counts among the clients' connections. Clients make room for clients in the same way.
final class ConnectionTable: Sendable {
  enum Refusal: Hashable, Sendable {
    /// The address has its maximum number of connections, and none is idle.
    case address
    /// All addresses together have the maximum number of connections, and none is idle.
    case server
  }

  enum Admission {
    /// The connection may proceed.
    ///
    /// - Parameter replaced: the idle connection that must be closed in exchange.
    case admitted(replaced: ServingConnection?)
    /// The connection must be closed without an answer.
    case dropped
  }

  enum Pairing {
    case paired(replaced: ServingConnection?)
    /// All paired connections are busy, and their number is at the limit.
    case full
    /// All connections of this client are busy, and their number is at the client's limit.
    case clientFull
  }

  fileprivate enum Standing {
    case open(AddressGroup)
    case refused(Refusal)
    case paired(PeerID)
  }

  fileprivate struct State {
    var standings: [ObjectIdentifier: Standing] = [:]
    /// The connections without a valid token by address, oldest first.
    var open: [AddressGroup: [ServingConnection]] = [:]
    var openCount = 0
    var refusedCount = 0
    /// The connections with a valid token by client, oldest first.
    var paired: [PeerID: [ServingConnection]] = [:]
    var pairedCount = 0
  }

  private let limits: ServingLimits
  private let state = Mutex(State())

  init(_ limits: ServingLimits) {
    self.limits = limits
  }

  /// Admits a new connection. It must be removed when it ends.
  func admit(_ connection: ServingConnection, from address: AddressGroup) -> Admission {
    state.withLock { state in
      let refusal: Refusal
      var replaced: ServingConnection?
      if state.open[address, default: []].count >= limits.connectionsPerAddress {
        refusal = .address
        replaced = state.open[address]?.oldestIdle
      } else if state.openCount >= limits.connections {
        refusal = .server
        replaced = state.open.oldestIdle
      } else {
        state.insert(connection, from: address)
        return .admitted(replaced: nil)
      }
      if let replaced {
        state.remove(replaced)
        state.insert(connection, from: address)
        return .admitted(replaced: replaced)
      }
      guard state.refusedCount < limits.refusedConnections else { return .dropped }
      state.refusedCount += 1
      state.standings[ObjectIdentifier(connection)] = .refused(refusal)
      return .admitted(replaced: nil)
    }
  }

  /// Counts a connection that has shown a valid token of this client among the client's.
  func pair(_ connection: ServingConnection, with client: PeerID) -> Pairing {
    state.withLock { state in
      var replaced: ServingConnection?
      if state.paired[client, default: []].count >= limits.connectionsPerClient {
        guard let idle = state.paired[client]?.oldestIdle else { return .clientFull }
        replaced = idle
      } else if state.pairedCount >= limits.pairedConnections {
        guard let idle = state.paired.oldestIdle else { return .full }
        replaced = idle
      }
      if let replaced { state.remove(replaced) }
      // A connection that has ended meanwhile must not be added again.
      guard state.remove(connection) else { return .paired(replaced: replaced) }
      state.insert(connection, pairedWith: client)
      return .paired(replaced: replaced)
    }
  }

  func remove(_ connection: ServingConnection) {
    state.withLock { state in _ = state.remove(connection) }
  }

  func refusal(of connection: ServingConnection) -> Refusal? {
    state.withLock { state in
      guard case .refused(let refusal)? = state.standings[ObjectIdentifier(connection)] else { return nil }
      return refusal
    }
  }

  /// The number of connections of each kind.
  var counts: (open: Int, refused: Int, paired: Int) {
    state.withLock { ($0.openCount, $0.refusedCount, $0.pairedCount) }
  }
}

extension ConnectionTable.State {
  fileprivate mutating func insert(_ connection: ServingConnection, from address: AddressGroup) {
    standings[ObjectIdentifier(connection)] = .open(address)
    open[address, default: []].append(connection)
    openCount += 1
  }

  fileprivate mutating func insert(_ connection: ServingConnection, pairedWith client: PeerID) {
    standings[ObjectIdentifier(connection)] = .paired(client)
    paired[client, default: []].append(connection)
    pairedCount += 1
  }

  @discardableResult
  fileprivate mutating func remove(_ connection: ServingConnection) -> Bool {
    switch standings.removeValue(forKey: ObjectIdentifier(connection)) {
    case .open(let address):
      openCount -= 1
      open[address]?.remove(connection)
      if open[address]?.isEmpty == true { open[address] = nil }
    case .refused: refusedCount -= 1
    case .paired(let client):
      pairedCount -= 1
      paired[client]?.remove(connection)
      if paired[client]?.isEmpty == true { paired[client] = nil }
    case nil: return false
    }
    return true
  }
}

extension [ServingConnection] {
  fileprivate mutating func remove(_ connection: ServingConnection) {
    if let index = firstIndex(where: { $0 === connection }) { remove(at: index) }
  }

  fileprivate var oldestIdle: ServingConnection? { first { !$0.isAnswering } }
}

extension Dictionary where Value == [ServingConnection] {
  /// The connection to close for a new one: the oldest idle one of the owner with the most connections, or of any
  /// other owner if all of those are busy.
  fileprivate var oldestIdle: ServingConnection? {
    if let idle = values.max(by: { $0.count < $1.count })?.oldestIdle { return idle }
    for connections in values {
      if let idle = connections.oldestIdle { return idle }
    }
    return nil
  }
}
