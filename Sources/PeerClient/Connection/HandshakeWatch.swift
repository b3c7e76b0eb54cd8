import NIOCore
import NIOTLS

/// A handler that completes a promise when the TLS handshake succeeds or fails.
final class HandshakeWatch: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  struct EndedEarly: Error {}

  private let promise: EventLoopPromise<Void>
  var future: EventLoopFuture<Void> { promise.futureResult }
  private var isDone = false

  init(_ promise: EventLoopPromise<Void>) {
    self.promise = promise
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { finish(.success(())) }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    finish(.failure(error))
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish(.failure(EndedEarly()))
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish(.failure(EndedEarly()))
  }

  private func finish(_ result: Result<Void, any Error>) {
    guard !isDone else { return }
    isDone = true
    promise.completeWith(result)
  }
}
