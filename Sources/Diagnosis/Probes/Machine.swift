import Foundation

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

  static let real = Machine(
    read: FileContents.init(path:), run: { await CommandRunner.run($0, $1) }, owners: SocketOwner.find(of:),
    userName: { getpwuid($0).map { String(cString: $0.pointee.pw_name) } }, interfaces: NetworkInterface.all,
    isRoot: geteuid() == 0)

  /// The text of a file, or nil for whatever reason.
  func text(_ path: String) -> String? {
    if case .text(let text) = read(path) { text } else { nil }
  }

  func exists(_ path: String) -> Bool { read(path) != .absent }
}

enum FileContents: Hashable, Sendable {
  case text(String)
  case absent
  /// It is there, and cannot be read as a text.
  case unreadable

  /// The first 4 MiB of the file.
  init(path: String) {
    // Without O_NONBLOCK a FIFO in the file's place would block for ever.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      self = errno == ENOENT || errno == ENOTDIR ? .absent : .unreadable
      return
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < 4 << 20 {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        self = .unreadable
        return
      }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    self = .text(String(decoding: bytes, as: UTF8.self))
  }
}
