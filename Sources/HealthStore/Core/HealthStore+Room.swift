import HealthModel
import OperatingSystem

extension HealthStore {
  /// Throws ``StoreError/lowSpace(path:free:needed:)`` where so little is left on the store's disk that nothing large should
  /// be written. Says nothing where the store was opened without looking at its disk.
  public func requireRoom() async throws(StoreError) {
    guard space != nil else { return }
    try await onThread { [self] _ throws(StoreError) in try requireRoomBlocking() }
  }

  /// The same. Blocking, as statvfs(3) is.
  ///
  /// - Parameter bytes: what is to be written. Twice that is asked for: it goes through the write-ahead log.
  public func requireRoomBlocking(for bytes: Int = 0) throws(StoreError) {
    guard let space = space?(directory) else { return }
    let needed = max(Self.reserve(of: space), UInt64(clamping: bytes) * 2)
    guard space.freeBytes < needed else {
      reserve?.fill(from: space.freeBytes)
      return
    }
    throw .lowSpace(path: path, free: space.freeBytes, needed: needed)
  }

  /// 64 MiB, or a twentieth of a small disk: what a full audit log, pairings and a clean end need, and more.
  private static func reserve(of space: DiskSpace) -> UInt64 { min(64 << 20, space.bytes / 20) }

  /// Does what must be done on a full disk, too, such as writing an audit event: room that was kept for that
  /// (``RoomReserve``) is given back, all but what is for the most urgent.
  func withReserve<Result>(
    _ body: () async throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    guard let reserve else { return try await body() }
    return try await reserve.released(
      keeping: RoomReserve.forTheMostUrgent, where: { $0 == .diskFull(path: path) }, body)
  }

  /// The same, before changes are written.
  func requireRoomBlocking(for batches: [CodedChanges]) throws(StoreError) {
    guard space != nil, batches.contains(where: { !$0.isEmpty }) else { return }
    try requireRoomBlocking(for: batches.reduce(0) { $0 + $1.approximateBytes })
  }
}

extension CodedChanges {
  /// About as many bytes as a store needs for them: rows with their index, and the texts.
  fileprivate var approximateBytes: Int {
    count * 160 + (payloads + metadata).reduce(0) { $0 + $1.utf8.count }
  }
}
