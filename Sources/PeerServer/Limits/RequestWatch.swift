import NIOCore
import NIOHTTP1
import NIOTLS

/// A handler behind the HTTP decoder that tracks what a connection waits for and enforces the time limits.
///
/// It also sends the answers that end connections: 408 and 431 for heads that are too slow or too big, and
/// `Connection: close`. It adapts answers to HTTP/1.0.
final class RequestWatch: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private enum Phase {
    case handshake, firstRequest, head, body, answering, idle, closing
  }

  private let connection: ServingConnection
  private let limits: ServingLimits
  private var context: ChannelHandlerContext?
  private var phase = Phase.handshake
  private var timer: DeadlineTimer?
  /// The HTTP versions of the requests not yet answered.
  private var unanswered: [HTTPVersion] = []
  private var isReading = false
  /// The parser's error: the bytes are not HTTP or exceed a limit, and the decoder reads no more.
  private var failure: HTTPParserError?
  /// Whether more than ``ServingLimits/pipelinedRequests`` requests are pipelined.
  private var isFull = false
  private var isAnswerBegun = false
  private var endsConnection = false
  /// The number of requests received completely, head and body.
  private(set) var requestsRead = 0

  init(_ connection: ServingConnection, limits: ServingLimits) {
    self.connection = connection
    self.limits = limits
  }

  /// Whether further bytes of the connection are ignored.
  var readsNoMore: Bool { phase == .closing || isFull || failure != nil }

  // MARK: The connection

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    timer = DeadlineTimer(context.eventLoop) { [weak self] in self?.expired() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    timer?.cancel()
    timer = nil
  }

  func channelActive(context: ChannelHandlerContext) {
    enter(.handshake)
    context.fireChannelActive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { enter(.firstRequest) }
    // At shutdown, answers in progress may finish, but a body that is still being sent gets only a short time.
    if event is ChannelShouldQuiesceEvent, phase == .body { timer?.set(limits.shutdown) }
    context.fireUserInboundEventTriggered(event)
  }

  /// Notes that bytes of a request have arrived, before the decoder sees them.
  func bytesArrived() {
    if phase == .firstRequest || phase == .idle { enter(.head) }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !readsNoMore else { return }
    var data = data
    switch unwrapInboundIn(data) {
    case .head(var head):
      guard unanswered.count < limits.pipelinedRequests else {
        isFull = true
        return
      }
      if head.version == .http1_0, !head.headers.contains(name: "Host") {
        // HTTP/1.0 requests need no Host field, but HostCheck requires one.
        head.headers.add(name: "Host", value: "")
        data = wrapInboundOut(.head(head))
      }
      unanswered.append(head.version)
      isReading = true
      enter(.body)
    case .body: break
    case .end:
      requestsRead += 1
      isReading = false
      enter(unanswered.isEmpty ? .idle : .answering)
    }
    noteWork()
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? HTTPParserError { failure = error }
    context.fireErrorCaught(error)
  }

  /// Refuses a request that has exceeded its maximum number of bytes.
  func requestIsTooBig() {
    guard let context, !readsNoMore else { return }
    if unanswered.count == 1, isReading, !isAnswerBegun {
      refuse(.payloadTooLarge, "Request body too large", context)
      context.write(wrapOutboundOut(.end(nil)), promise: nil)
    }
    close()
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard phase != .closing else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(let head) where failure == .headerOverflow && head.status == .badRequest:
      // The server answers 400 to every parser error; this handler knows that the head was too large.
      refuse(.requestHeaderFieldsTooLarge, "Request head too large", context, promise: promise)
    case .head(var head):
      isAnswerBegun = true
      if unanswered.first == .http1_0 {
        head.version = .http1_0
        head.headers.replaceOrAdd(name: "Connection", value: "close")
      }
      endsConnection = head.headers[canonicalForm: "Connection"].contains { $0.lowercased() == "close" }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body:
      context.write(data, promise: promise)
    case .end:
      context.write(data, promise: promise)
      isAnswerBegun = false
      if !unanswered.isEmpty { unanswered.removeFirst() }
      if endsConnection || (isFull && unanswered.isEmpty) { return close() }
      if unanswered.isEmpty, !isReading, phase != .closing { enter(.idle) }
      noteWork()
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode == .output { enter(.closing) }
    context.close(mode: mode, promise: promise)
  }

  /// Stops reading, sends the pending output, and ends the connection.
  func close() {
    guard let context, phase != .closing else { return }
    context.flush()
    enter(.closing)
    context.close(mode: .output, promise: nil)
  }

  private func refuse(
    _ status: HTTPResponseStatus, _ message: String, _ context: ChannelHandlerContext,
    promise: EventLoopPromise<Void>? = nil
  ) {
    let body = ByteBuffer(string: #"{"error":"\#(message)","success":false}"#)
    let headers: HTTPHeaders = [
      "Content-Type": "application/json", "Cache-Control": "no-store", "Content-Length": "\(body.readableBytes)",
      "Connection": "close",
    ]
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: promise)
  }

  // MARK: Time

  private func noteWork() {
    connection.isAnswering = unanswered.count > (isReading ? 1 : 0)
  }

  private func enter(_ phase: Phase) {
    // A closing connection stays in that phase.
    guard self.phase != .closing else { return }
    self.phase = phase
    switch phase {
    case .handshake: timer?.set(limits.handshake)
    case .firstRequest: timer?.set(limits.firstRequest)
    case .head: timer?.set(limits.head)
    // Lingers so that the route that reads the body times out first and can answer.
    case .body: timer?.set(limits.body + limits.linger)
    case .answering: timer?.cancel()
    case .idle: timer?.set(limits.idle)
    case .closing: timer?.set(limits.linger)
    }
  }

  private func expired() {
    guard let context else { return }
    switch phase {
    case .handshake, .body, .closing:
      context.triggerUserOutboundEvent(ConnectionAbort(), promise: nil)
    case .firstRequest, .idle:
      context.close(promise: nil)
    case .head:
      refuse(.requestTimeout, "The request did not arrive in time", context)
      context.write(wrapOutboundOut(.end(nil)), promise: nil)
      close()
    case .answering: break
    }
  }
}
