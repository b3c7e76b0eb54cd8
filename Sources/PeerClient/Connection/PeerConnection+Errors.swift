import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OperatingSystem
import PeerProtocol

extension PeerConnection {
  /// Returns the ``PeerError`` that describes a network error, or the error itself if it is not one.
  ///
  /// - Parameter isConnected: whether the TLS handshake had succeeded, in which case a TLS error means a lost
  ///   connection.
  static func describe(
    _ error: any Error, endpoint: PeerEndpoint, isConnected: Bool, silenceLimit: Int
  ) -> any Error {
    let name = endpoint.description
    switch error {
    case ReadDeadline.Passed.silence: return PeerError.silent(endpoint: name, seconds: silenceLimit)
    case ReadDeadline.Passed.trickle:
      let patience = ReadDeadline.patience(.seconds(Int64(silenceLimit)))
      return PeerError.tooSlow(endpoint: name, seconds: Int(patience.nanoseconds / 1_000_000_000))
    case is AnswerBudget.Exceeded:
      return PeerError.unexpectedAnswer(status: 200, message: "an answer with more beside its body than any has")
    case is HandshakeWatch.EndedEarly:
      return PeerError.handshakeFailed(endpoint: name, reason: "it closed the connection")
    case is NIOSSLError, is BoringSSLError:
      return isConnected
        ? PeerError.connectionLost(endpoint: name)
        : PeerError.handshakeFailed(endpoint: name, reason: reason(ofHandshake: error))
    case let error as NIOConnectionError: return PeerError.unreachable(endpoint: name, reason: reason(of: error))
    case let error as IOError:
      return isConnected || error.errnoCode == ECONNRESET || error.errnoCode == EPIPE
        ? PeerError.connectionLost(endpoint: name)
        : PeerError.unreachable(endpoint: name, reason: reason(errno: error.errnoCode))
    // NIO has equal time limits for each address and for all of them together.
    case ChannelError.connectTimeout: return PeerError.unreachable(endpoint: name, reason: noAnswer)
    case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection, is ChannelError:
      return PeerError.connectionLost(endpoint: name)
    case is HTTPParserError, is NIOHTTPDecoderError, is ByteToMessageDecoderError:
      return PeerError.notHpeer(endpoint: name, detail: "its answer is not HTTP")
    default: return error
    }
  }

  /// Returns the reason of a failed handshake. NIOSSL exposes BoringSSL's reasons only as text.
  private static func reason(ofHandshake error: any Error) -> String {
    let text = "\(error)"
    return if ["EOF", "uncleanShutdown"].contains(where: text.contains) {
      "it closed the connection"
    } else if ["WRONG_VERSION_NUMBER", "HTTP_REQUEST"].contains(where: text.contains) {
      "what it speaks is not TLS"
    } else if ["PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL"].contains(where: text.contains) {
      "its version of TLS is too old"
    } else {
      "its answer made no sense, or was damaged on the way"
    }
  }

  private static let noAnswer = "no answer within 5 seconds"

  private static func reason(of error: NIOConnectionError) -> String {
    if error.dnsAError != nil && error.dnsAAAAError != nil { return UnreachableReason.noAddress }
    guard let failure = error.connectionErrors.first?.error else { return "no answer" }
    if let failure = failure as? IOError { return reason(errno: failure.errnoCode) }
    if case ChannelError.connectTimeout = failure { return noAnswer }
    return "\(failure)"
  }

  private static func reason(errno code: CInt) -> String {
    switch code {
    case ECONNREFUSED: "connection refused: nothing listens on that port"
    case EHOSTUNREACH: "no route, or the other machine's firewall rejects it"
    case ENETUNREACH: UnreachableReason.noNetwork
    case EACCES, EPERM: "a firewall refuses it: that of the other machine, or this one's"
    case ECONNRESET: "the connection was reset: something between the two machines, or the other one, ended it"
    default: SystemMessage.text(code)
    }
  }
}

extension HTTPResponseHead {
  /// The number of seconds after which to retry (RFC 9110 section 10.2.3), or `nil` if the header is missing or not
  /// in seconds.
  var retryAfter: Int? { headers.first(name: "Retry-After").flatMap { WireCount($0)?.rawValue } }
}
