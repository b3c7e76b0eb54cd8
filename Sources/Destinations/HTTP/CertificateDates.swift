import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import OperatingSystem
import Synchronization

/// A check of the dates of a server's certificate, to explain a refusal: TLS libraries give no reason.
enum CertificateDates {
  enum Problem: Hashable, Sendable {
    /// The last day of validity: `2024-06-15`.
    case expired(day: String)
    case notYetValid(day: String)
  }

  private static let patience = TimeAmount.seconds(5)

  /// Performs a TLS handshake to read the certificate, sends no data and closes the connection. Returns `nil` if the
  /// dates are valid or no certificate is received.
  static func problem(of host: String, port: Int) async -> Problem? {
    let seen = Mutex<NIOSSLCertificate?>(nil)
    await look(at: host, port) { certificate in seen.withLock { $0 = certificate } }
    guard let certificate = seen.withLock(\.self) else { return nil }
    let now = time_t(Date().timeIntervalSince1970)
    if certificate.notValidAfter < now { return .expired(day: day(certificate.notValidAfter)) }
    if certificate.notValidBefore > now { return .notYetValid(day: day(certificate.notValidBefore)) }
    return nil
  }

  private static func look(
    at host: String, _ port: Int, _ show: @escaping @Sendable (NIOSSLCertificate) -> Void
  ) async {
    var numeric = in6_addr()
    let isAddress = inet_pton(AF_INET, host, &numeric) == 1 || inet_pton(AF_INET6, host, &numeric) == 1
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(patience)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let context = try NIOSSLContext(configuration: .makeClientConfiguration())
          try channel.pipeline.syncOperations.addHandler(
            NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host) {
              (chain: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>) in
              chain.first.map(show)
              verdict.succeed(.failed)
            })
        }
      }
    guard let channel = try? await bootstrap.connect(host: host, port: port).get() else { return }
    let end = channel.eventLoop.scheduleTask(in: patience) { () -> Void in channel.close(promise: nil) }
    try? await channel.closeFuture.get()
    end.cancel()
  }

  private static func day(_ time: time_t) -> String {
    String(Date(timeIntervalSince1970: Double(time)).ISO8601Format().prefix(10))
  }
}
