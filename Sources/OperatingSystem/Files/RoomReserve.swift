import Glibc

/// Room on a disk that is held by a file until it is needed: what must be written however full the disk is, such as an
/// audit log, gets it back in parts.
///
/// ```swift
/// let reserve = RoomReserve(directory: "/home/casey/.local/share/hpeer")
/// reserve.fill(from: 40 << 30)
/// // Later, what must be written however full the disk is:
/// try await reserve.released(where: { (error: SystemError) in error.code == ENOSPC }) { () throws(SystemError) in
///   print("write here")
/// }
/// ```
///
/// It never fails itself: without a reserve things are as they would be without it.
public struct RoomReserve: Sendable {
  /// Of a whole reserve.
  public static let bytes = 2 << 20
  /// What is left of it by all but the most urgent, so that whoever reads much on a full disk can still be locked out.
  public static let forTheMostUrgent = 512 << 10
  /// What is given back at once: room for the log and the index of a database, and for what is to be written.
  static let part = 256 << 10
  /// It takes no more than a sixteenth of what is free.
  private static let share: UInt64 = 16

  private let path: String

  /// - Parameter directory: in which the file `room.reserve` is.
  public init(directory: String) {
    path = directory + "/room.reserve"
  }

  /// Makes it whole, where it is not and the disk has plenty of room. Blocking.
  ///
  /// - Parameter freeBytes: on that disk.
  public func fill(from freeBytes: UInt64) {
    guard size < Self.bytes, freeBytes / Self.share >= UInt64(Self.bytes) else { return }
    guard let descriptor = try? PrivateFile.open(path, O_WRONLY | O_CREAT) else { return }
    defer { close(descriptor) }
    _ = posix_fallocate(descriptor, 0, Self.bytes)
  }

  /// Does `body`; where the disk is full, gives a part back and does it again, until it can be done or no more may be given
  /// back.
  ///
  /// - Parameters:
  ///   - kept: how many bytes are left for what matters more.
  ///   - isFull: whether `body` failed for want of room.
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

  /// Gives a part of it back to the disk, unless another process has done so since it was seen last. Blocking.
  ///
  /// - Parameters:
  ///   - seen: its size when room was wanted last, in bytes; `nil` the first time, where it is only looked at: room may have
  ///     been given back just now.
  ///   - kept: how much of it is not given back, in bytes.
  /// - Returns: its size now; `nil` where nothing is left that may be given back.
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

  /// In bytes; 0 where there is none.
  private var size: Int {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
  }
}
