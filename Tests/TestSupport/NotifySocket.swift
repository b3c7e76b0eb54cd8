import Dispatch
import Foundation

/// The service manager's end of sd_notify(3): a datagram socket that keeps what comes, in order.
///
/// Unchecked, because the source is only kept, and cancelled at the end.
public final class NotifySocket: @unchecked Sendable {
  /// What `NOTIFY_SOCKET` is to be.
  public let name: String
  /// One message each, by its lines.
  public let messages: AsyncStream<[String]>
  private let source: any DispatchSourceRead

  /// - Parameter name: a path at which nothing is yet, or `@` and a name of the abstract space.
  public init(_ name: String) throws {
    self.name = name
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes: [UInt8] = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let code = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard code == 0 else {
      close(descriptor)
      throw POSIXError(.EADDRINUSE)
    }
    let (messages, continuation) = AsyncStream.makeStream(of: [String].self)
    self.messages = messages
    let source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "NotifySocket"))
    source.setEventHandler {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
      guard count > 0 else { return }
      let text = String(decoding: buffer[..<count], as: UTF8.self)
      continuation.yield(text.split(separator: "\n").map(String.init))
    }
    source.setCancelHandler {
      close(descriptor)
      continuation.finish()
    }
    source.resume()
    self.source = source
  }

  deinit { source.cancel() }

  /// The first message from now on that has this line, or one that begins with it and `=`; `nil` when the task is cancelled.
  public func first(_ line: String) async -> [String]? {
    for await message in messages where message.contains(where: { $0 == line || $0.hasPrefix(line + "=") }) {
      return message
    }
    return nil
  }
}
