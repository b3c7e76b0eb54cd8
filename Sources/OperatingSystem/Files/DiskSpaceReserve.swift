import Glibc

/// A file that reserves disk space for writes that must succeed on a full disk, such as those of an audit log. The
/// space is released in parts.
///
/// ```swift
/// let reserve = DiskSpaceReserve(directory: "/home/casey/.local/share/hpeer")
/// reserve.fill(from: 40 << 30)
/// // Later, what must be written however full the disk is:
/// try await reserve.released(where: { (error: SystemError) in error.code == ENOSPC }) { () throws(SystemError) in
///   print("write here")
/// }
/// ```
///
/// A reserve that cannot be created or released causes no error: everything works as without it.
public struct DiskSpaceReserve: Sendable {
  /// The size of a full reserve, in bytes.
  public static let bytes = 2 << 20
  /// The bytes that only the most urgent writes may use, so that a client that reads much on a full disk can still be
  /// locked out.
  public static let forTheMostUrgent = 512 << 10
  /// The bytes that are released at once: enough for a database's log and index and the data to write.
  static let part = 256 << 10
  /// The reserve takes at most one part in sixteen of the free space.
  private static let share: UInt64 = 16

  private let path: String

  /// Creates a reserve.
  /// - Parameter directory: the directory of the file `room.reserve`.
  public init(directory: String) {
    path = directory + "/room.reserve"
  }

  /// Fills the reserve if it is not full and the disk has plenty of free space. Blocking.
  ///
  /// - Parameter freeBytes: the free bytes on that disk.
  public func fill(from freeBytes: UInt64) {
    guard size < Self.bytes, freeBytes / Self.share >= UInt64(Self.bytes) else { return }
    guard let descriptor = try? PrivateFile.open(path, O_WRONLY | O_CREAT) else { return }
    defer { close(descriptor) }
    _ = posix_fallocate(descriptor, 0, Self.bytes)
  }

  /// Runs `body`. While the disk is full, releases a part of the reserve and runs it again, until it succeeds or no
  /// more may be released.
  ///
  /// - Parameters:
  ///   - kept: the number of bytes to leave for more urgent writes.
  ///   - isFull: returns whether `body` failed because the disk is full.
  public func released<Result, Failure: Error>(
    keeping kept: Int = 0, where isFull: (Failure) -> Bool, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    var seen: Int?
    while true {
      do throws(Failure) {
        return try await body()
      } catch {
        guard isFull(error), let size = await onThread({ [seen] _ in release(seen: seen, keeping: kept) }) else {
          throw error
        }
        seen = size
      }
    }
  }

  /// Releases a part of the reserve, unless another process has done so since `seen`. Blocking.
  ///
  /// - Parameters:
  ///   - seen: the size at the previous failure, in bytes. With `nil`, the first time, nothing is released: another
  ///     process may have freed space just now.
  ///   - kept: the number of bytes that must not be released.
  /// - Returns: the current size; `nil` if no more may be released.
  func release(seen: Int?, keeping kept: Int) -> Int? {
    guard let descriptor = try? PrivateFile.open(path, O_WRONLY) else { return nil }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX) == 0 else { return nil }
    let size = size
    guard let seen, size >= seen else { return size }
    guard size > kept else { return nil }
    let rest = max(kept, size - Self.part)
    return ftruncate(descriptor, off_t(rest)) == 0 ? rest : nil
  }

  /// The current size in bytes; 0 if there is no reserve.
  private var size: Int {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
  }
}
