import HealthModel
import HealthOperations
import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust
import TestSupport
import Testing

/// Tests of behaviour while the disk is nearly full, and afterwards.
@Suite(.timeLimit(.minutes(5))) struct RoomTests {
  private let room = ChangingRoom()

  /// Opens a home's store again, with this suite's simulated disk.
  private func store(of home: TestHome) throws -> HealthStore {
    try HealthStore(
      directory: home.home.directory, space: { [room] _ in DiskSpace(bytes: 1 << 40, freeBytes: room.freeBytes) })
  }

  @Test("an import does not begin, and is not in the log")
  func importing() async throws {
    let home = try TestHome()
    let path = try home.file("export.xml", AppleExportText(heartRates: 5).text)
    let store = try store(of: home)
    room.freeBytes = 1 << 20
    let error = await #expect(throws: StoreError.self) { _ = try await home.importer(path).run(into: store) }
    #expect(error?.isOutOfRoom == true)
    #expect(try await home.auditedNames() == [])
    room.freeBytes = 1 << 40
    #expect(try await home.importer(path).run(into: store).summary.added == 5)
  }

  @Test("what follows waits, says so once, and goes on by itself when there is room")
  func following() async throws {
    let (studio, laptop) = (try TestHome(), try TestHome())
    try await studio.fill(20)
    let (room, store) = (room, try store(of: laptop))
    try await ServedHome.run(studio) { served in
      let local = LocalPeer(
        store: store, registry: try await laptop.home.openRegistry(), identity: try await laptop.home.identity(),
        name: "laptop")
      let server = try await PairOperation(local).run(with: [], code: .payload(try await served.window()))
      room.freeBytes = 1 << 20
      let clock = ManualClock()
      let (told, tell) = AsyncStream.makeStream(of: String.self)
      let pull = PullOperation(local, finder: local.finder, persons: PersonCheck(local.registry))
      let operation = FollowOperation(pull, waitsForRoom: true, clock: clock) { tell.yield(Self.name(of: $1)) }
      let following = Task { try await operation.run([(server, PeerFinder.hint(of: server))]) }
      var events = told.makeAsyncIterator()
      #expect(await events.next() == "no room")
      for _ in 0..<3 {
        while clock.sleepers == 0 { await Task.yield() }
        clock.advance(by: .seconds(60))
      }
      while clock.sleepers == 0 { await Task.yield() }
      #expect(try await laptop.count() == 0)
      room.freeBytes = 1 << 40
      clock.advance(by: .seconds(60))
      #expect(await events.next() == "came 20")
      #expect(await events.next() == "up to date")
      #expect(try await laptop.count() == 20)
      following.cancel()
      #expect(try await following.value.failure == nil)

      // Where nobody waits, it ends, and says why.
      room.freeBytes = 1 << 20
      let ended = try await FollowOperation(pull) { _, _ in }.run([(server, PeerFinder.hint(of: server))])
      #expect((ended.failure as? StoreError)?.isOutOfRoom == true)
      await #expect(throws: StoreError.self) {
        _ = try await pull.run(from: server, at: PeerFinder.hint(of: server))
      }
    }
  }

  private static func name(of event: FollowEvent) -> String {
    switch event {
    case .came(let new): "came \(new.added)"
    case .upToDate: "up to date"
    case .lost: "lost"
    case .noRoom: "no room"
    case .back: "back"
    case .gaveUp: "gave up"
    }
  }
}
