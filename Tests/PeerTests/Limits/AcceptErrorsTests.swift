import Glibc
import NIOCore
import NIOEmbedded
import Testing

@testable import PeerServer

@Suite("Errors of accept(2)") struct AcceptErrorsTests {
  private final class Errors: ChannelInboundHandler {
    typealias InboundIn = NIOAny
    var count = 0
    func errorCaught(context: ChannelHandlerContext, error: any Error) { count += 1 }
  }

  private final class Reads: ChannelOutboundHandler {
    typealias OutboundIn = NIOAny
    var count = 0
    func read(context: ChannelHandlerContext) { count += 1 }
  }

  @Test(
    "what passes ends nothing, and connections are accepted again after a while",
    arguments: [EMFILE, ENFILE, ECONNABORTED])
  func passing(code: Int32) throws {
    let (errors, reads) = (Errors(), Reads())
    let channel = EmbeddedChannel(handlers: [reads, AcceptErrors(), errors])
    channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
    #expect(errors.count == 0 && reads.count == 0)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(reads.count == 1)
    _ = try channel.finish()
  }

  @Test("what does not pass is told")
  func others() throws {
    let errors = Errors()
    let channel = EmbeddedChannel(handlers: [AcceptErrors(), errors])
    channel.pipeline.fireErrorCaught(IOError(errnoCode: EBADF, reason: "accept"))
    channel.pipeline.fireErrorCaught(ChannelError.eof)
    #expect(errors.count == 2)
    _ = try channel.finish()
  }
}
