import Foundation
import NIOCore
import NIOHTTP1
import PeerProtocol

/// An HTTP/1.1 connection over TLS to a peer. Requests are sequential: read each response completely before the next
/// request.
///
/// A connection is created by ``withConnection(to:trust:_:)`` and belongs to the task that runs its body.
///
/// ```swift
/// func status(of endpoint: PeerEndpoint, pinned: Fingerprint) async throws -> Data {
///   try await PeerConnection.withConnection(to: endpoint, trust: .pinned(pinned, peer: "studio")) { connection in
///     let head = try await connection.send(.GET, "/status")
///     guard head.status == .ok else { throw PeerError.notHpeer(endpoint: "\(endpoint)", detail: "\(head.status)") }
///     return try await connection.body()
///   }
/// }
/// ```
public final class PeerConnection {
  typealias Inbound = NIOAsyncChannelInboundStream<HTTPClientResponsePart>
  typealias Outbound = NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>

  /// The number of seconds without a byte from the peer after which it is considered gone.
  public static let silenceLimit = 30

  /// The endpoint of the connection, which is also the value of the `Host` field.
  public let endpoint: PeerEndpoint
  /// The SHA-256 of the peer's certificate in this connection's handshake.
  public let fingerprint: Fingerprint
  /// The number of bytes of response bodies so far.
  public private(set) var bytesReceived = 0
  /// The statement sent with requests so that a server recognizes a client with a new certificate.
  private let rotation: RotationStatement?
  let limits: ClientLimits
  /// The number of answers on this connection saying that the peer is still working.
  var busyAnswers = 0
  private var inbound: Inbound.AsyncIterator
  private let outbound: Outbound

  init(
    endpoint: PeerEndpoint, fingerprint: Fingerprint, rotation: RotationStatement?, limits: ClientLimits,
    inbound: Inbound, outbound: Outbound
  ) {
    self.limits = limits
    self.endpoint = endpoint
    self.fingerprint = fingerprint
    self.rotation = rotation
    self.inbound = inbound.makeAsyncIterator()
    self.outbound = outbound
  }

  // MARK: Requests

  /// Sends a request with its body and returns the head of the answer.
  public func send(
    _ method: HTTPMethod, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil
  ) async throws -> HTTPResponseHead {
    var fields = HTTPHeaders([("Host", endpoint.description), ("User-Agent", "hpeer")])
    fields.add(contentsOf: headers)
    // Sent only if the server must identify this client: with a token or to pair.
    if let rotation, fields.contains(name: "Authorization") || path == Route.pairStart {
      fields.add(name: RotationStatement.header, value: rotation.text)
    }
    if let body { fields.add(name: "Content-Length", value: String(body.count)) }
    var parts: [HTTPClientRequestPart] = [
      .head(HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: fields))
    ]
    if let body { parts.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
    parts.append(.end(nil))
    try await outbound.write(contentsOf: parts)
    while let part = try await inbound.next(isolation: #isolation) {
      if case .head(let head) = part { return head }
    }
    throw PeerError.connectionLost(endpoint: endpoint.description)
  }

  /// Returns the next piece of the body, or `nil` at its end.
  public func nextBodyPart() async throws -> ByteBuffer? {
    while let part = try await inbound.next(isolation: #isolation) {
      switch part {
      case .head: continue
      case .body(let buffer):
        bytesReceived += buffer.readableBytes
        return buffer
      case .end: return nil
      }
    }
    throw PeerError.connectionLost(endpoint: endpoint.description)
  }

  /// Returns the complete body.
  ///
  /// - Parameter limit: the maximum number of bytes; `nil` for ``ClientLimits/bodyBytes``.
  public func body(limit: Int? = nil) async throws -> Data {
    let limit = limit ?? limits.bodyBytes
    var data = Data()
    while let part = try await nextBodyPart() {
      data.append(contentsOf: part.readableBytesView)
      guard data.count <= limit else {
        throw PeerError.unexpectedAnswer(status: 200, message: "an answer of more than \(limit) bytes")
      }
    }
    return data
  }
}
