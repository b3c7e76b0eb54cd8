import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// HTTP over TLS with ``ServingLimits`` at every level of the pipeline.
struct GuardedChannel: ServerChildChannel {
  typealias Base = HTTP1Channel

  private let base: Base
  private let tls: ServerTLS
  private let table: ConnectionTable
  private let limits: ServingLimits

  init(
    responder: @escaping HTTPChannelHandler.Responder, tls: ServerTLS, table: ConnectionTable, limits: ServingLimits
  ) {
    base = HTTP1Channel(
      responder: responder,
      configuration: .init(
        additionalChannelHandlers: [StalledPeer()],
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes,
          maxHeaderFieldCount: limits.headFields)))
    self.tls = tls
    self.table = table
    self.limits = limits
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
    base.setup(channel: channel, logger: logger).flatMapThrowing { value in
      let connection = ServingConnection(channel, table: table)
      let accepted = AcceptedConnection(value, connection)
      let watch = RequestWatch(connection, limits: limits)
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(watch, position: .after(decoder))
      try pipeline.addHandler(RequestMeter(watch: watch, limit: limits.requestBytes), position: .first)
      try pipeline.addHandler(ClientHelloPeek(limits: limits, makeTLS: tls.handler), position: .first)
      try pipeline.addHandler(ConnectionGuard(connection, table: table, limits: limits), position: .first)
      return accepted
    }
  }

  func handle(value: AcceptedConnection, logger: Logger) async {
    guard let channel = value.take() else { return }
    await ServingConnection.$current.withValue(value.connection) {
      await base.handle(value: channel, logger: logger)
    }
  }
}

/// A connection between its acceptance and the task that serves it.
///
/// When the listener ends in between, nobody takes it. NIO has it that every async channel is finished by hand, and
/// stops the process otherwise.
final class AcceptedConnection: ServerChildChannelValue {
  let connection: ServingConnection
  private let value: HandedOver<GuardedChannel.Base.Value>

  init(_ value: GuardedChannel.Base.Value, _ connection: ServingConnection) {
    self.value = HandedOver(value) { try await $0.executeThenClose { _, _ in } }
    self.connection = connection
    channel = value.channel
  }

  let channel: any Channel

  func take() -> GuardedChannel.Base.Value? { value.take() }
}
