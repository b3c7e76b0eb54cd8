import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The conversion of connection errors to ``DeliveryError``: a part of a sentence, and whether to try again.
///
/// The text names only the host: paths and headers may be secrets, and a library's error message may quote them.
enum HTTPFailure {
  /// Returns the delivery error for an error of the HTTP client.
  ///
  /// - Parameter url: the requested address.
  static func deliveryError(_ error: any Error, url: String) async -> DeliveryError {
    let address = URL(string: url)
    let host = address?.host ?? "the server"
    switch error {
    case let error as DeliveryError: return error
    case let error as HTTPClientError: return failure(error, host)
    case is NIOTooManyBytesError: return .temporary(reason: "\(host) answers with more than is read")
    case is HTTPParserError: return .temporary(reason: "\(host) answers something that is no HTTP")
    case let error as NIOConnectionError:
      if error.connectionErrors.isEmpty { return .temporary(reason: "the name \(host) is not known") }
      return .temporary(reason: "\(host) \(unreachable(error.connectionErrors.last?.error))")
    case is IOError, is ChannelError: return .temporary(reason: "\(host) \(unreachable(error))")
    case is NIOSSLExtraError:
      return .unusable(reason: "the certificate of \(host) is for another name: put that name into url, or renew it")
    case let error as NIOSSLError:
      guard case .handshakeFailed(let reason) = error else { break }
      return await handshakeFailure("\(reason)", host, address)
    case let error as BoringSSLError: return await handshakeFailure("\(error)", host, address)
    default: break
    }
    return .temporary(reason: "\(host) could not be asked (\(type(of: error)))")
  }

  private static func failure(_ error: HTTPClientError, _ host: String) -> DeliveryError {
    switch error {
    case .connectTimeout, .tlsHandshakeTimeout: .temporary(reason: "\(host) does not answer")
    case .deadlineExceeded, .readTimeout, .writeTimeout: .temporary(reason: "\(host) did not answer in time")
    case .remoteConnectionClosed: .temporary(reason: "\(host) closed the connection before it had answered")
    default: .temporary(reason: "\(host) could not be asked (\(error.shortDescription))")
    }
  }

  /// Returns the part of a sentence after the host: a verb and what follows.
  private static func unreachable(_ error: (any Error)?) -> String {
    switch error {
    case let error as IOError:
      switch error.errnoCode {
      case ECONNREFUSED: "refuses the connection: does it run, and is the port right?"
      case ECONNRESET, EPIPE: "closed the connection before it had answered"
      case ETIMEDOUT: "does not answer"
      case ENETUNREACH, EHOSTUNREACH: "cannot be reached from here: is there a network?"
      default: "cannot be reached (\(String(cString: strerror(error.errnoCode))))"
      }
    case ChannelError.connectTimeout?: "does not answer"
    default: "closed the connection before it had answered"
    }
  }

  private static func handshakeFailure(_ reason: String, _ host: String, _ url: URL?) async -> DeliveryError {
    if reason.contains("CERTIFICATE_VERIFY_FAILED") {
      switch await CertificateDates.problem(of: host, port: url?.port ?? 443) {
      case .expired(let day)?:
        return .unusable(reason: "the certificate of \(host) expired on \(day): renew it")
      case .notYetValid(let day)?:
        return .unusable(reason: "the certificate of \(host) is valid only from \(day) on: is the clock here right?")
      case nil:
        return .unusable(
          reason: "the certificate of \(host) is not trusted: set ca to the authority that has signed it")
      }
    }
    if reason.contains("WRONG_VERSION_NUMBER") || reason.contains("HTTP_REQUEST") {
      return .temporary(reason: "\(host) speaks no TLS on this port: is it http://?")
    }
    return .temporary(reason: "the TLS handshake with \(host) failed")
  }
}
