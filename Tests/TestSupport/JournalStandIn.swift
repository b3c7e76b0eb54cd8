import Foundation
import Synchronization

/// A stand-in for systemd's journal: the stream socket `stdout` for a program's output, and beside it `socket`, which
/// takes entries by the native protocol.
public final class JournalStandIn: Sendable {
  /// The path of the socket to which a program connects its output stream.
  public let stream: String
  private let listener: CInt
  private let socket: DatagramSocket?
  private let log = Log()

  private final class Log: Sendable {
    let entries = Mutex<[Result<[String: String], any Error>]>([])
  }

  /// - Parameter takesEntries: Whether there is a native protocol socket beside the stream.
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

  /// Returns the fields of each entry so far, oldest first.
  ///
  /// - Throws: ``JournalDatagram/Malformed`` if a datagram wasn't an entry.
  public func entries() throws -> [[String: String]] {
    try log.entries.withLock { try $0.map { try $0.get() } }
  }

  /// Returns the text that a program, which has ended, wrote to the stream.
  public func written() throws -> String {
    let connection = accept(listener, nil, nil)
    guard connection >= 0 else { throw POSIXError(.EIO) }
    let handle = FileHandle(fileDescriptor: connection, closeOnDealloc: true)
    return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
  }

  /// Returns a socket connected to the stream. The caller must close it.
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
