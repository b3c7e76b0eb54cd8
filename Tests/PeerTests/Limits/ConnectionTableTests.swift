import NIOCore
import NIOEmbedded
import PeerProtocol
import Testing

@testable import PeerServer

@Suite("Which connection makes room for which")
struct ConnectionTableTests {
  private let table: ConnectionTable
  private let a = AddressGroup.ipv4(1)
  private let b = AddressGroup.ipv4(2)

  private let peer: PeerID

  init() throws {
    peer = try makePeerID()
    var limits = ServingLimits()
    limits.connections = 6
    limits.connectionsPerAddress = 4
    limits.pairedConnections = 2
    limits.refusedConnections = 1
    table = ConnectionTable(limits)
  }

  private func connection() -> ServingConnection { ServingConnection(NIOAsyncTestingChannel(), table: table) }

  /// Admits a connection. Returns it with the connection that it replaced.
  private func admit(_ address: AddressGroup) throws -> (new: ServingConnection, replaced: ServingConnection?) {
    let new = connection()
    guard case .admitted(let replaced) = table.admit(new, from: address) else { throw NeverHappened() }
    return (new, replaced)
  }

  @Test("the oldest idle one of the same address, when that has its number")
  func sameAddress() throws {
    let first = try (0..<4).map { _ in try admit(a).new }
    first[0].isAnswering = true
    #expect(try admit(a).replaced === first[1])
    #expect(try admit(b).replaced == nil)
    #expect(table.counts.open == 5)
  }

  @Test("the oldest idle one of the largest crowd, when there are too many in all")
  func largestCrowd() throws {
    let others = try (0..<2).map { _ in try admit(b).new }
    let crowd = try (0..<4).map { _ in try admit(a).new }
    #expect(try admit(.ipv4(3)).replaced === crowd[0])
    #expect(try admit(.ipv4(4)).replaced === crowd[1])
    #expect(table.counts.open == 6)
    withExtendedLifetime(others) {}
  }

  @Test("nobody idle: one is told why, the next is dropped, and an ended one makes room")
  func allAtWork() throws {
    let busy = try (0..<4).map { _ in try admit(a).new }
    for connection in busy { connection.isAnswering = true }
    let refused = try admit(a)
    #expect(refused.replaced == nil)
    #expect(refused.new.refusal == .address)
    guard case .dropped = table.admit(connection(), from: a) else {
      Issue.record("not dropped")
      return
    }
    table.remove(busy[0])
    #expect(try admit(a).new.refusal == nil)
    table.remove(refused.new)
    #expect(table.counts == (open: 4, refused: 0, paired: 0))
  }

  @Test("whoever shows a token leaves the crowd and is not closed for it")
  func paired() throws {
    let client = try admit(a).new
    try client.showToken(of: peer)
    #expect(client.isPaired)
    for _ in 0..<20 { #expect(try admit(a).replaced !== client) }
    #expect(table.counts == (open: 4, refused: 0, paired: 1))
    // Also one that was about to be refused.
    var limits = ServingLimits()
    limits.connectionsPerAddress = 0
    let strict = ConnectionTable(limits)
    let late = ServingConnection(NIOAsyncTestingChannel(), table: strict)
    guard case .admitted = strict.admit(late, from: a) else { throw NeverHappened() }
    #expect(late.refusal == .address)
    try late.showToken(of: peer)
    #expect(late.refusal == nil)
  }

  @Test("paired connections make room among themselves, but none at work is closed")
  func pairedLimit() throws {
    let clients = try (0..<3).map { _ in try admit(a).new }
    for client in clients.prefix(2) { try client.showToken(of: peer) }
    clients[0].isAnswering = true
    clients[1].isAnswering = true
    #expect(throws: ServerFailure.self) { try clients[2].showToken(of: peer) }
    #expect(!clients[2].isPaired)
    clients[1].isAnswering = false
    try clients[2].showToken(of: peer)
    #expect(table.counts == (open: 0, refused: 0, paired: 2))
  }

  @Test("a client that has as many as it may makes room among its own, whatever room there is")
  func connectionsOfOneClient() throws {
    var limits = ServingLimits()
    limits.connectionsPerClient = 2
    let table = ConnectionTable(limits)
    func connected(_ peer: PeerID) throws -> ServingConnection {
      let new = ServingConnection(NIOAsyncTestingChannel(), table: table)
      guard case .admitted(nil) = table.admit(new, from: a) else { throw NeverHappened() }
      try new.showToken(of: peer)
      return new
    }
    let other = try connected(makePeerID())
    let mine = try (0..<2).map { _ in try connected(peer) }
    for connection in mine { connection.isAnswering = true }
    let refusal = #expect(throws: ServerFailure.self) { try connected(peer) }
    #expect(refusal?.status == .tooManyRequests)
    mine[1].isAnswering = false
    _ = try connected(peer)
    #expect(table.counts.paired == 3)
    withExtendedLifetime(other) {}
  }

  @Test("one that has ended does not come back")
  func ended() throws {
    let client = try admit(a).new
    table.remove(client)
    table.remove(client)
    try client.showToken(of: peer)
    #expect(table.counts == (open: 0, refused: 0, paired: 0))
  }

  @Test("no more connections than there are descriptors")
  func descriptors() {
    for descriptors in [0, 64, 128, 256, 1024, 4096, 8192, 1 << 20] {
      let limits = ServingLimits().fitting(descriptors: descriptors)
      let total = limits.connections + limits.pairedConnections + limits.refusedConnections
      #expect(total <= max(24, descriptors - 90))
      #expect(limits.connections > 0 && limits.pairedConnections > 0 && limits.refusedConnections > 0)
      #expect(limits.connectionsPerAddress <= limits.connections)
    }
    #expect(ServingLimits().fitting(descriptors: ServingLimits.wantedDescriptors) == ServingLimits())
  }
}
