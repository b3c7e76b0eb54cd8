import Foundation
import Synchronization

/// An HTTP server on loopback whose responses are written byte by byte, including responses that no real server
/// sends.
public final class RawEndpoint: Sendable {
  public struct Request: Sendable {
    public var method: String
    /// The path and query.
    public var target: String
    /// The header fields, by lowercase name.
    public var headers: [String: String]
    public var body: [UInt8]
  }

  public enum Next: Sendable {
    /// A wait for the next request on this connection.
    case again
    case close
    /// A wait without further writes until the client closes the connection.
    case hold
  }

  /// A request together with the connection that takes its response.
  public struct Exchange {
    public let request: Request
    /// The index of the request among all requests to this server, starting at 0.
    public let number: Int
    fileprivate let socket: Int32

    /// Writes to the client. Returns whether everything was sent.
    @discardableResult public func write(_ text: String) -> Bool { write(Array(text.utf8)) }
    @discardableResult public func write(_ bytes: [UInt8]) -> Bool { TCPSocket.write(bytes[...], to: socket) }

    /// Writes a complete response and keeps the connection open.
    public func answer(_ status: Int, _ headers: [String: String] = [:], _ body: String = "") -> Next {
      let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
      return write("HTTP/1.1 \(status) Some reason\r\n\(lines)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        ? .again : .close
    }

    public func endWriting() { shutdown(socket, CInt(SHUT_WR)) }
  }

  public typealias Behaviour = @Sendable (Exchange) -> Next

  private final class State: Sendable {
    let requests = Mutex<[Request]>([])
    let sockets = Mutex<Set<Int32>>([])
    let behaviour: Behaviour

    init(_ behaviour: @escaping Behaviour) { self.behaviour = behaviour }
  }

  public let port: Int
  private let listener: ListeningSocket
  private let state: State

  public init(_ behaviour: @escaping Behaviour) throws {
    state = State(behaviour)
    listener = try ListeningSocket()
    port = listener.port
    Thread.detachNewThread { [listener, state] in
      // It ends when the listener does.
      while let socket = listener.accept() {
        _ = state.sockets.withLock { $0.insert(socket) }
        Thread.detachNewThread { Self.serve(socket, state) }
      }
    }
  }

  deinit {
    listener.close()
    state.sockets.withLock { for socket in $0 { shutdown(socket, CInt(SHUT_RDWR)) } }
  }

  public var url: String { "http://127.0.0.1:\(port)/" }
  public var requests: [Request] { state.requests.withLock(\.self) }

  private static func serve(_ socket: Int32, _ state: State) {
    defer {
      _ = state.sockets.withLock { $0.remove(socket) }
      Glibc.close(socket)
    }
    var buffer: [UInt8] = []
    while let request = next(socket, &buffer) {
      let number = state.requests.withLock { requests in
        requests.append(request)
        return requests.count - 1
      }
      switch state.behaviour(Exchange(request: request, number: number, socket: socket)) {
      case .again: continue
      case .close: return
      case .hold:
        while TCPSocket.read(socket) != nil {}
        return
      }
    }
  }

  private static func next(_ socket: Int32, _ buffer: inout [UInt8]) -> Request? {
    let blank = Array("\r\n\r\n".utf8)
    var end = buffer.firstRange(of: blank)
    while end == nil {
      guard let bytes = TCPSocket.read(socket) else { return nil }
      buffer += bytes
      end = buffer.firstRange(of: blank)
    }
    guard let end else { return nil }
    var lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines.removeFirst().split(separator: " ").map(String.init)
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
    }
    let count = headers["content-length"].flatMap(Int.init) ?? 0
    buffer.removeSubrange(..<end.upperBound)
    while buffer.count < count {
      guard let bytes = TCPSocket.read(socket) else { return nil }
      buffer += bytes
    }
    let body = Array(buffer[..<count])
    buffer.removeSubrange(..<count)
    return Request(method: words[0], target: words[1], headers: headers, body: body)
  }
}
