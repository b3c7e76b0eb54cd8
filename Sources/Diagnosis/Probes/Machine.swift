import Glibc
import OperatingSystem

/// What the checks ask of the machine that they run on. A test puts its own answers in.
struct Machine: Sendable {
  /// A small text file, such as one in /proc or /etc.
  var read: @Sendable (String) -> FileContents
  /// A program of the system and its arguments.
  var run: @Sendable (String, [String]) async -> CommandOutcome
  /// Which processes hold these sockets, as far as this user may know.
  var owners: @Sendable (Set<UInt64>) -> [UInt64: SocketOwner]
  /// The name of a user.
  var userName: @Sendable (UInt32) -> String?
  var interfaces: @Sendable () -> [NetworkInterface]
  var isRoot: Bool
  /// Which way packets to an address leave.
  var way: @Sendable (IPv4Address) -> NetworkWay = NetworkWay.to

  static let real = Machine(
    read: FileContents.init(path:), run: { await CommandRunner.run($0, $1) }, owners: SocketOwner.find(of:),
    userName: { getpwuid($0).map { String(cString: $0.pointee.pw_name) } }, interfaces: NetworkInterface.all,
    isRoot: geteuid() == 0)

  /// The text of a file, or nil for whatever reason.
  func text(_ path: String) -> String? {
    if case .text(let text) = read(path) { text } else { nil }
  }

  func exists(_ path: String) -> Bool { read(path) != .absent }

  /// The sockets of one protocol, `udp` or `tcp`, in this network.
  func sockets(_ transport: String) -> [SocketEntry] {
    ["", "6"].flatMap { SocketEntry.parse(text("/proc/self/net/\(transport)\($0)") ?? "") }
  }
}
