import Glibc

/// A connection to systemd's journal in its native protocol, so that entries have fields and no library of systemd is
/// needed.
///
/// ```swift
/// let journal = SystemJournal(behind: STDERR_FILENO)
/// let entry = JournalEntry("contact lost", priority: 4, program: "hpeer", fields: ["peer": "studio"])
/// if journal?.write(entry) != true { print("contact lost") }
/// ```
public final class SystemJournal: Sendable {
  private let address: UnixAddress
  private let descriptor: Int32

  /// Creates a connection to the journal behind a stream; `nil` if the stream does not lead to a journal.
  ///
  /// - Parameter stream: a descriptor connected to a journal's stream socket. The socket for entries is in the same
  ///   directory, even if the unit has a journal of its own (`LogNamespace=`).
  public init?(behind stream: Int32) {
    let end = "/stdout"
    guard let path = UnixAddress.pathOfPeer(of: stream), path.hasSuffix(end),
      let address = UnixAddress(path.dropLast(end.count) + "/socket")
    else { return nil }
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    self.address = address
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Writes an entry without blocking.
  ///
  /// - Returns: whether the journal accepted it. It does not if it is not running, its queue is full, or the entry
  ///   exceeds the size of a datagram (some 200 kB); write to the stream then.
  public func write(_ entry: JournalEntry) -> Bool {
    address.send(entry.datagram, over: descriptor, flags: Int32(MSG_DONTWAIT))
  }
}
