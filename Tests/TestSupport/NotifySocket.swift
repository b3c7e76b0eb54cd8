import Foundation

/// The service manager's end of sd_notify(3): a datagram socket that keeps what comes, in order.
public final class NotifySocket: Sendable {
  /// What `NOTIFY_SOCKET` is to be.
  public let name: String
  /// One message each, by its lines.
  public let messages: AsyncStream<[String]>
  private let socket: DatagramSocket

  /// - Parameter name: a path at which nothing is yet, or `@` and a name of the abstract space.
  public init(_ name: String) throws {
    self.name = name
    let (messages, continuation) = AsyncStream.makeStream(of: [String].self)
    self.messages = messages
    socket = try DatagramSocket(name) { bytes in
      continuation.yield(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
    } end: {
      continuation.finish()
    }
  }

  /// The first message from now on that has this line, or one that begins with it and `=`; `nil` when the task is cancelled.
  public func first(_ line: String) async -> [String]? {
    for await message in messages where message.contains(where: { $0 == line || $0.hasPrefix(line + "=") }) {
      return message
    }
    return nil
  }
}
