import Foundation
import Synchronization

/// Stands for systemd's journal: `stdout`, to which a program's stream leads, and beside it `socket`, which takes entries by
/// the native protocol.
public final class JournalStandIn: Sendable {
  /// What a program connects its stream to.
  public let stream: String
  private let listener: CInt
  private let socket: DatagramSocket?
  private let log = Log()

  private final class Log: Sendable {
    let entries = Mutex<[Result<[String: String], any Error>]>([])
  }

  /// - Parameter takesEntries: otherwise there is the stream only.
  public init(in directory: TemporaryDirectory, takesEntries: Bool = true) throws {
    stream = directory.path("stdout")
    listener = try DatagramSocket.bound(stream, SOCK_STREAM)
    // Where no program has connected, a test fails rather than waits.
    guard listen(listener, 8) == 0, fcntl(listener, F_SETFL, O_NONBLOCK) == 0 else { throw POSIXError(.EIO) }
    let receive: @Sendable ([UInt8]) -> Void = { [log] datagram in
      log.entries.withLock { $0.append(Result { try JournalDatagram.fields(datagram) }) }
    }
    socket = takesEntries ? try DatagramSocket(directory.path("socket"), receive: receive) : nil
  }

  deinit { close(listener) }

  /// The fields of each entry until now, the oldest first. Throws where a datagram was none.
  public func entries() throws -> [[String: String]] {
    try log.entries.withLock { try $0.map { try $0.get() } }
  }

  /// What was written to the stream by a program that has ended.
  public func written() throws -> String {
    let connection = accept(listener, nil, nil)
    guard connection >= 0 else { throw POSIXError(.EIO) }
    let handle = FileHandle(fileDescriptor: connection, closeOnDealloc: true)
    return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
  }

  /// A stream that leads here; the caller's to close.
  public func connected() throws -> CInt {
    let descriptor = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: stream.utf8) }
    let code = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard code == 0 else {
      close(descriptor)
      throw POSIXError(.ECONNREFUSED)
    }
    return descriptor
  }
}
