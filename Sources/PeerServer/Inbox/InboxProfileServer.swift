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

/// Hands a profile to the first that asks for it under a path that nobody can guess. Without TLS, for the phone that is to trust a
/// certificate of this machine does not yet.
public struct InboxProfileServer: Service {
  private let host: String?
  private let port: Int
  private let application: any ApplicationProtocol

  /// - Parameters:
  ///   - host: the address to bind; `nil` for all.
  ///   - port: 0 for any that is free.
  ///   - path: what it is asked for by, with a slash at its beginning.
  ///   - onListening: told the port.
  ///   - onServed: told when the profile has been handed over, once.
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

  /// Throws ``PeerServerError`` where it cannot listen.
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
