import HealthModel
import OperatingSystem

extension HealthStore {
  /// Throws ``StoreError/lowSpace(path:free:needed:)`` if the store's disk has too little space for a large write.
  /// Does nothing if the store was opened without `space`.
  public func requireRoom() async throws(StoreError) {
    guard space != nil else { return }
    try await onThread { [self] _ throws(StoreError) in try requireRoomBlocking() }
  }

  /// Throws ``StoreError/lowSpace(path:free:needed:)`` if the store's disk has too little space. Blocking, as
  /// statvfs(3) is.
  ///
  /// - Parameter bytes: the number of bytes to write. Twice as many must be free, because they also go through the
  ///   write-ahead log.
  public func requireRoomBlocking(for bytes: Int = 0) throws(StoreError) {
    guard let space = space?(directory) else { return }
    let needed = max(Self.reserve(of: space), UInt64(clamping: bytes) * 2)
    guard space.freeBytes < needed else {
      reserve?.fill(from: space.freeBytes)
      return
    }
    throw .lowSpace(path: path, free: space.freeBytes, needed: needed)
  }

  /// Returns the space to keep free: 64 MiB, or a twentieth of a small disk. That is more than a full audit log,
  /// pairings and a clean shutdown need.
  private static func reserve(of space: DiskSpace) -> UInt64 { min(64 << 20, space.bytes / 20) }

  /// Runs work that must succeed even on a full disk, such as writing an audit event. If the disk is full, frees the
  /// reserved space (``DiskSpaceReserve``), except for the part kept for the most urgent work.
  func withReserve<Result>(
    _ body: () async throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    guard let reserve else { return try await body() }
    return try await reserve.released(
      keeping: DiskSpaceReserve.forTheMostUrgent, where: { $0 == .diskFull(path: path) }, body)
  }

  /// Throws ``StoreError/lowSpace(path:free:needed:)`` if the store's disk has too little space for the changes.
  func requireRoomBlocking(for batches: [CodedChanges]) throws(StoreError) {
    guard space != nil, batches.contains(where: { !$0.isEmpty }) else { return }
    try requireRoomBlocking(for: batches.reduce(0) { $0 + $1.approximateBytes })
  }
}

extension CodedChanges {
  /// The approximate number of bytes that a store needs for the changes: rows with their indexes, and texts.
  fileprivate var approximateBytes: Int {
    count * 160 + (payloads + metadata).reduce(0) { $0 + $1.utf8.count }
  }
}
