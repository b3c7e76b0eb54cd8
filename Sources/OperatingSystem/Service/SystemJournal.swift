import Glibc

/// systemd's journal, spoken to by its native protocol, so that an entry has fields beside its line and no library of
/// systemd is needed.
///
/// ```swift
/// let journal = SystemJournal(behind: STDERR_FILENO)
/// let entry = JournalEntry("contact lost", priority: 4, program: "hpeer", fields: ["peer": "studio"])
/// if journal?.write(entry) != true { print("contact lost") }
/// ```
public final class SystemJournal: Sendable {
  private let address: UnixAddress
  private let descriptor: Int32

  /// - Parameter stream: a descriptor that leads into the journal. Its socket for entries is beside the one for streams, also
  ///   where a unit has a journal of its own (`LogNamespace=`). `nil` where the stream leads elsewhere.
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

  /// Never blocks.
  ///
  /// - Returns: whether the journal has taken it. It has not where it is not there, has more to read than it can keep, or the
  ///   entry is larger than a datagram may be (some 200 kB): say it on the stream then.
  public func write(_ entry: JournalEntry) -> Bool {
    address.send(entry.datagram, over: descriptor, flags: Int32(MSG_DONTWAIT))
  }
}
