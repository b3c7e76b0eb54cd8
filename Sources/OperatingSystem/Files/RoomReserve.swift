import Glibc

/// Room on a disk that is held by a file until it is needed: what must be written however full the disk is, such as an
/// audit log, gets it back in parts.
///
/// ```swift
/// let reserve = RoomReserve(directory: "/home/casey/.local/share/hpeer")
/// reserve.fill(from: 40 << 30)
/// // Later, after a write for which there was no room:
/// if reserve.release() { print("try again") }
/// ```
///
/// All its methods block, and none fails: without a reserve things are as they would be without it.
public struct RoomReserve: Sendable {
  /// Of a whole reserve.
  public static let bytes = 2 << 20
  /// What ``release()`` gives back: room for the log and the index of a database, and for what is to be written.
  static let part = 256 << 10
  /// It takes no more than a sixteenth of what is free.
  private static let share: UInt64 = 16

  private let path: String

  /// - Parameter directory: in which the file `room.reserve` is.
  public init(directory: String) {
    path = directory + "/room.reserve"
  }

  /// Makes it whole, where it is not and the disk has plenty of room.
  ///
  /// - Parameter freeBytes: on that disk.
  public func fill(from freeBytes: UInt64) {
    guard size < Self.bytes, freeBytes / Self.share >= UInt64(Self.bytes) else { return }
    guard let descriptor = try? PrivateFile.open(path, O_WRONLY | O_CREAT) else { return }
    defer { close(descriptor) }
    _ = posix_fallocate(descriptor, 0, Self.bytes)
  }

  /// Gives a part of it back to the disk.
  ///
  /// - Returns: false where nothing is left of it.
  public func release() -> Bool {
    guard let descriptor = try? PrivateFile.open(path, O_WRONLY) else { return false }
    defer { close(descriptor) }
    let size = size
    return size > 0 && ftruncate(descriptor, max(0, size - Self.part)) == 0
  }

  /// In bytes; 0 where there is none.
  private var size: Int {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
  }
}
