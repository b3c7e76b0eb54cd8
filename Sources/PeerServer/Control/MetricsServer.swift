import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A service that answers `GET /metrics` on loopback, for Prometheus on this machine. Every user of the machine can
/// ask, so the metrics contain no names.
public struct MetricsServer: Service {
  private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  private static let maximumConnections = 8

  private let port: Int
  private let answer: MetricsAnswer
  private let logger: Logger
  private let requestTimeout: Duration
  private let onListening: @Sendable (Int) -> Void

  /// - Parameters:
  ///   - port: the port; 0 for any free one.
  ///   - metrics: returns the metrics in the text format of Prometheus.
  ///   - onListening: called with the port.
  public init(
    port: Int, logger: Logger, requestTimeout: Duration = .seconds(5),
    onListening: @escaping @Sendable (Int) -> Void = { _ in }, metrics: @escaping @Sendable () async -> String
  ) {
    self.port = port
    self.logger = logger
    self.requestTimeout = requestTimeout
    self.onListening = onListening
    answer = MetricsAnswer(metrics: metrics)
  }

  /// Serves requests until shutdown. Throws ``PeerServerError`` if it cannot listen.
  public func run() async throws {
    let listener: NIOAsyncChannel<DisposableBox<Connection>, Never>
    do {
      listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelInitializer { $0.pipeline.addHandler(AcceptErrors()) }
        .bind(host: "127.0.0.1", port: port) { [requestTimeout] channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(RequestHead(timeout: TimeAmount(requestTimeout)))
            return DisposableBox(try Connection(wrappingChannelSynchronously: channel)) {
              try await $0.executeThenClose { _, _ in }
            }
          }
        }
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      throw PeerServerError.portTaken(port, of: .metrics)
    } catch let error as IOError where error.errnoCode == EACCES {
      throw PeerServerError.portForbidden(port, of: .metrics)
    } catch {
      throw PeerServerError.cannotListen(address: "127.0.0.1", reason: networkReason(error))
    }
    onListening(listener.channel.localAddress?.port ?? port)
    await cancelWhenGracefulShutdown {
      await listener.serveEach(atMost: Self.maximumConnections) { await serve($0) }
    }
    try? await gracefulShutdown()
  }

  private func serve(_ connection: Connection) async {
    try? await connection.executeThenClose { inbound, outbound in
      var heads = inbound.makeAsyncIterator()
      guard let head = try await heads.next() else { return }
      let lines = String(buffer: head).split(separator: "\r\n").map(String.init)
      let text = Self.isForLoopback(lines.dropFirst()) ? await answer.answer(to: lines.first ?? "") : nil
      try await outbound.write(ByteBuffer(string: text ?? MetricsAnswer.text("400 Bad Request", "")))
    }
  }

  /// Returns whether the request's Host field names loopback. Otherwise a web page could use a DNS name that resolves
  /// to this address and read the metrics (DNS rebinding).
  static func isForLoopback(_ fields: some Sequence<String>) -> Bool {
    let hosts = fields.filter { $0.lowercased().hasPrefix("host:") }
      .map { $0.dropFirst(5).trimmingCharacters(in: .whitespaces).lowercased() }
    guard hosts.count == 1, let host = hosts.first else { return false }
    let name = host.hasPrefix("[") ? String(host.prefix { $0 != "]" }) + "]" : String(host.prefix { $0 != ":" })
    return ["127.0.0.1", "localhost", "[::1]"].contains(name)
  }
}
