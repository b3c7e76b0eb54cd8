import Glibc
import OperatingSystem

/// The system functions that the checks use. Tests substitute their own.
struct Machine: Sendable {
  /// Reads a small text file, such as one in /proc or /etc.
  var read: @Sendable (String) -> FileContents
  /// Runs a system program with arguments.
  var run: @Sendable (String, [String]) async -> CommandOutcome
  /// Returns the processes that hold sockets, as far as this user may know.
  var owners: @Sendable (Set<UInt64>) -> [UInt64: SocketOwner]
  /// Returns the name of a user.
  var userName: @Sendable (UInt32) -> String?
  var interfaces: @Sendable () -> [NetworkInterface]
  var isRoot: Bool
  /// Returns the route of packets to an address.
  var way: @Sendable (IPv4Address) -> NetworkRoute = NetworkRoute.to

  static let real = Machine(
    read: FileContents.init(path:), run: { await CommandRunner.run($0, $1) }, owners: SocketOwner.find(of:),
    userName: { getpwuid($0).map { String(cString: $0.pointee.pw_name) } }, interfaces: NetworkInterface.all,
    isRoot: geteuid() == 0)

  /// Returns the text of a file, or nil if it cannot be read for any reason.
  func text(_ path: String) -> String? {
    if case .text(let text) = read(path) { text } else { nil }
  }

  func exists(_ path: String) -> Bool { read(path) != .absent }

  /// Returns the sockets of a protocol, `udp` or `tcp`, in this network namespace.
  func sockets(_ transport: String) -> [SocketEntry] {
    ["", "6"].flatMap { SocketEntry.parse(text("/proc/self/net/\(transport)\($0)") ?? "") }
  }
}
