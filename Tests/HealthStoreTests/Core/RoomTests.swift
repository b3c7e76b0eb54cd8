import HealthModel
import HealthStore
import OperatingSystem
import TestSupport
import Testing

/// Tests that writing stops while there is still some space on the disk.
@Suite(.timeLimit(.minutes(5))) struct RoomTests {
  private let directory: TemporaryDirectory
  private let room = ChangingRoom()

  init() throws { directory = try TemporaryDirectory() }

  private func store(ofDisk bytes: UInt64 = 1 << 40) throws -> HealthStore {
    try HealthStore(
      directory: directory.path,
      space: { [room] _ in
        DiskSpace(bytes: bytes, freeBytes: room.freeBytes)
      })
  }

  private func samples(_ count: Int) -> ChangeBatch {
    var maker = SampleMaker(seed: 8)
    return ChangeBatch(additions: (0..<count).map { maker.steps(at: $0) })
  }

  @Test("nothing is added to a disk that is nearly full; what matters still is, and all goes on when there is room")
  func low() async throws {
    let store = try store()
    room.freeBytes = (64 << 20) - 1
    let expected = StoreError.lowSpace(path: store.path, free: (64 << 20) - 1, needed: 64 << 20)
    #expect(expected.isOutOfRoom)
    await #expect(throws: expected) { try await store.apply(samples(3)) }
    await #expect(throws: expected) { try await store.requireRoom() }
    #expect(throws: expected) { try store.applyBlocking(samples(3)) }
    #expect(try await store.samples.typeCounts().isEmpty)
    let received = samples(2).additions
    var coder = ChangeCoder()
    for sample in received { try coder.add(sample) }
    let changes = coder.changes
    await #expect(throws: expected) {
      try await store.receive([changes], readings: [], road: .healthAutoExport, if: { _ in true })
    }
    await #expect(throws: expected) {
      try await store.receive([], readings: received, road: .healthAutoExport, if: { _ in true })
    }
    // A position alone, and an event, are small.
    try await store.apply([CodedChanges()], position: (consumer: "peer", token: "x"))
    try await store.audit.record(AuditEvent(.serverLocked))
    room.freeBytes = 64 << 20
    #expect(try await store.apply(samples(3)).added == 3)
  }

  @Test("a small disk keeps a twentieth free")
  func small() async throws {
    let store = try store(ofDisk: 100 << 20)
    room.freeBytes = 5 << 20
    #expect(try await store.apply(samples(3)).added == 3)
    room.freeBytes -= 1
    await #expect(throws: StoreError.lowSpace(path: store.path, free: (5 << 20) - 1, needed: 5 << 20)) {
      try await store.apply(samples(4))
    }
  }

  @Test("a batch needs twice its size")
  func batch() throws {
    let store = try store()
    room.freeBytes = 199 << 20
    try store.requireRoomBlocking(for: 99 << 20)
    #expect(throws: StoreError.lowSpace(path: store.path, free: 199 << 20, needed: 200 << 20)) {
      try store.requireRoomBlocking(for: 100 << 20)
    }
  }

  @Test("a disk that cannot be looked at keeps nothing from being written")
  func unknown() async throws {
    let store = try HealthStore(directory: directory.path, space: { _ in nil })
    #expect(try await store.apply(samples(2)).added == 2)
  }
}
