import Foundation

/// The service manager's end of sd_notify(3): a datagram socket that queues messages in order.
public final class NotifySocket: Sendable {
  /// The value for `NOTIFY_SOCKET`.
  public let name: String
  /// The messages received, each split into its lines.
  public let messages: AsyncStream<[String]>
  private let socket: DatagramSocket

  /// - Parameter name: An unused path, or `@` and a name in the abstract namespace.
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

  /// Waits for a message that contains `line`, or a line that begins with `line` and `=`. Returns `nil` if the task
  /// is cancelled.
  public func first(_ line: String) async -> [String]? {
    for await message in messages where message.contains(where: { $0 == line || $0.hasPrefix(line + "=") }) {
      return message
    }
    return nil
  }
}
