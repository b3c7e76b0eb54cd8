import Synchronization

/// Every connection of a server, and who has to go when there are too many.
///
/// Strangers make room for strangers: the oldest idle connection of the address that has the most is closed for a new
/// one. So whoever connects always gets a turn, however many connections others leave lying about, and whoever uses it
/// to show a valid token is out of the crowd from then on.
final class ConnectionTable: Sendable {
  enum Refusal: Hashable, Sendable {
    /// Its address has too many connections that are all at work.
    case address
    /// So has everyone together.
    case server
  }

  enum Admission {
    /// - Parameter replaced: the connection to close for it.
    case admitted(replaced: ServingConnection?)
    /// To be closed without a word.
    case dropped
  }

  enum Pairing {
    case paired(replaced: ServingConnection?)
    case full
  }

  fileprivate enum Standing {
    case open(AddressGroup)
    case refused(Refusal)
    case paired
  }

  fileprivate struct State {
    var standings: [ObjectIdentifier: Standing] = [:]
    /// Oldest first.
    var open: [AddressGroup: [ServingConnection]] = [:]
    var openCount = 0
    var refusedCount = 0
    /// Oldest first.
    var paired: [ServingConnection] = []
  }

  private let limits: ServingLimits
  private let state = Mutex(State())

  init(_ limits: ServingLimits) {
    self.limits = limits
  }

  /// A new connection. It must be removed when it has ended.
  func admit(_ connection: ServingConnection, from address: AddressGroup) -> Admission {
    state.withLock { state in
      let refusal: Refusal
      var replaced: ServingConnection?
      if state.open[address, default: []].count >= limits.connectionsPerAddress {
        refusal = .address
        replaced = state.oldestIdle(of: address)
      } else if state.openCount >= limits.connections {
        refusal = .server
        replaced = state.oldestIdleOfLargest()
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

  /// A connection has shown a valid token.
  func pair(_ connection: ServingConnection) -> Pairing {
    state.withLock { state in
      var replaced: ServingConnection?
      if state.paired.count >= limits.pairedConnections {
        guard let idle = state.paired.first(where: { !$0.isAnswering }) else { return .full }
        state.remove(idle)
        replaced = idle
      }
      // One that has ended in the meantime must not come back.
      guard state.remove(connection) else { return .paired(replaced: replaced) }
      state.standings[ObjectIdentifier(connection)] = .paired
      state.paired.append(connection)
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

  /// How many connections there are of each kind.
  var counts: (open: Int, refused: Int, paired: Int) {
    state.withLock { ($0.openCount, $0.refusedCount, $0.paired.count) }
  }
}

extension ConnectionTable.State {
  fileprivate mutating func insert(_ connection: ServingConnection, from address: AddressGroup) {
    standings[ObjectIdentifier(connection)] = .open(address)
    open[address, default: []].append(connection)
    openCount += 1
  }

  @discardableResult
  fileprivate mutating func remove(_ connection: ServingConnection) -> Bool {
    switch standings.removeValue(forKey: ObjectIdentifier(connection)) {
    case .open(let address):
      openCount -= 1
      open[address]?.remove(connection)
      if open[address]?.isEmpty == true { open[address] = nil }
    case .refused: refusedCount -= 1
    case .paired: paired.remove(connection)
    case nil: return false
    }
    return true
  }

  fileprivate func oldestIdle(of address: AddressGroup) -> ServingConnection? {
    open[address]?.first { !$0.isAnswering }
  }

  fileprivate func oldestIdleOfLargest() -> ServingConnection? {
    if let largest = open.max(by: { $0.value.count < $1.value.count })?.key, let idle = oldestIdle(of: largest) {
      return idle
    }
    // Whoever has the most is at work; somebody else may not be.
    for address in open.keys {
      if let idle = oldestIdle(of: address) { return idle }
    }
    return nil
  }
}

extension [ServingConnection] {
  fileprivate mutating func remove(_ connection: ServingConnection) {
    if let index = firstIndex(where: { $0 === connection }) { remove(at: index) }
  }
}
