import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Why a server could not be asked, in a sentence's part and with what it means for later attempts.
enum HTTPFailure {
  static func deliveryError(_ error: any Error, url: String) -> DeliveryError {
    let host = URL(string: url)?.host ?? "the server"
    switch error {
    case let error as HTTPClientError:
      switch error {
      case .connectTimeout: return .temporary(reason: "\(host) does not answer")
      case .deadlineExceeded, .readTimeout: return .temporary(reason: "\(host) did not answer in time")
      case .remoteConnectionClosed: return .temporary(reason: "\(host) closed the connection before it had answered")
      default: return .temporary(reason: "\(host): \(error.shortDescription)")
      }
    case is NIOTooManyBytesError: return .temporary(reason: "\(host) answers with more than is read")
    case let error as NIOConnectionError:
      if error.dnsAError != nil || error.dnsAAAAError != nil, error.connectionErrors.isEmpty {
        return .temporary(reason: "the name \(host) is not known")
      }
      return .temporary(reason: "\(host) refuses the connection or cannot be reached")
    case let error as NIOSSLError:
      if case .handshakeFailed(let reason) = error { return untrusted(host, "\(reason)") }
      return .temporary(reason: "\(host): TLS failed (\(error))")
    case let error as NIOSSLExtraError: return untrusted(host, "\(error)")
    default: return .temporary(reason: "\(host): \(error)")
    }
  }

  private static func untrusted(_ host: String, _ reason: String) -> DeliveryError {
    if reason.contains("CERTIFICATE_VERIFY_FAILED") || reason.contains("verification failed")
      || reason.contains("hostname")
    {
      return .unusable(reason: "the certificate of \(host) is not trusted: set ca, or mend it")
    }
    return .temporary(reason: "\(host): the TLS handshake failed")
  }
}
