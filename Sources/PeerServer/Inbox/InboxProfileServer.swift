import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import PeerTrust
import ServiceLifecycle
import Synchronization

/// A service that hands a configuration profile to the first request for an unguessable path. It uses no TLS because
/// the phone does not trust a certificate of this machine yet.
public struct InboxProfileServer: Service {
  private let host: String?
  private let port: Int
  private let application: any ApplicationProtocol

  /// - Parameters:
  ///   - host: the address to bind; `nil` for all.
  ///   - port: the port; 0 for any free one.
  ///   - path: the path of the profile, with a leading slash.
  ///   - onListening: called with the port.
  ///   - onServed: called once, when the profile has been sent.
  public init(
    _ profile: InboxProfile, host: String?, port: Int, path: String, logger: Logger,
    onListening: @escaping @Sendable (Int) -> Void, onServed: @escaping @Sendable () -> Void
  ) {
    (self.host, self.port) = (host, port)
    var limits = ServingLimits()
    limits.connections = 64
    limits.connectionsPerAddress = 16
    let (serving, table) = (limits, ConnectionTable(limits))
    let router = Router(context: PeerRequestContext.self)
    router.add(middleware: ErrorMiddleware(methods: [:]))
    let isLeft = Mutex(true)
    router.get(RouterPath(path)) { _, _ -> Response in
      let isFirst = isLeft.withLock { isLeft in
        defer { isLeft = false }
        return isLeft
      }
      guard isFirst else { throw ServerFailure(status: .gone, message: "This profile has been fetched already.") }
      let body = ResponseBody(contentLength: profile.text.utf8.count) { writer in
        do {
          try await writer.write(ByteBuffer(string: profile.text))
          try await writer.finish(nil)
        } catch {
          // The phone may ask again after a connection that broke.
          isLeft.withLock { $0 = true }
          throw error
        }
        onServed()
      }
      return Response(
        status: .ok,
        headers: [.contentType: InboxProfile.contentType, .cacheControl: "no-store", .connection: "close"], body: body)
    }
    application = Application(
      router: router,
      server: HTTPServerBuilder { responder in
        GuardedChannel(responder: responder, security: PlainConnection(), table: table, limits: serving)
      },
      configuration: .init(address: .hostname(host ?? PeerServer.anyAddress, port: port), serverName: "hpeer"),
      onServerRunning: { channel in
        try? await channel.pipeline.addHandler(AcceptErrors(), position: .first)
        onListening(channel.localAddress?.port ?? port)
      }, logger: logger)
  }

  /// Serves requests until shutdown. Throws ``PeerServerError`` if it cannot listen.
  public func run() async throws {
    do {
      try await application.run()
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      throw PeerServerError.portTaken(port, of: .server)
    } catch let error
      where error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
    {
      throw PeerServerError.cannotListen(address: host ?? PeerServer.anyAddress, reason: networkReason(error))
    }
  }
}
