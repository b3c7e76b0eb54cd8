import Hummingbird
import Logging
import NIOCore
import NIOSSL
import PeerProtocol
import PeerTrust

/// What is known about a request beside itself: where it came from and, once ``BearerAuthentication`` was asked, whose it
/// is.
struct PeerRequestContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The numeric address of the caller; evidence of nothing.
  let remoteAddress: String
  private let channel: any Channel
  /// The IPv4 address or IPv6 /64 that limits count the caller under.
  let addressGroup: AddressGroup
  /// The connection that the request came over, where there is one.
  let connection: ServingConnection?
  /// What the registry said of the request's token, so that it is asked once for each request; `nil` before.
  var authentication: Result<AuthorizedClient, BearerAuthentication.Refusal>?

  /// The authenticated client, behind ``BearerAuthentication``; elsewhere ``ServerFailure`` 401.
  func authorized() throws(ServerFailure) -> AuthorizedClient {
    guard let client = try? authentication?.get() else { throw .unauthorized }
    return client
  }
  /// Behind ``ResponseLimit``: released while the request waits for something else than its reader.
  var responsePermit: FairSemaphore.Permit?
  /// Behind ``AuthorizationRecheck``: what the answer shows, which its client must be allowed to the end.
  var granted: GrantedScope?
  /// Behind ``FairScheduling``: released while the request waits for something else than the store.
  var storePermit: FairSemaphore.Permit?

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
    remoteAddress = Self.text(of: source.channel.remoteAddress)
    addressGroup = AddressGroup(source.channel.remoteAddress)
    connection = ServingConnection.current
  }

  /// Of the certificate that the client showed in this connection's handshake, which proved that it holds the key; `nil`
  /// if it showed none.
  func clientFingerprint() async throws -> Fingerprint? {
    guard let certificate = try await channel.nioSSL_peerCertificate().get() else { return nil }
    return Fingerprint(certificateDER: try certificate.toDERBytes())
  }

  private static func text(of address: SocketAddress?) -> String {
    guard let text = address?.ipAddress else { return "unknown" }
    // A socket for both families shows IPv4 callers as mapped addresses (RFC 4291 section 2.5.5.2).
    return text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text
  }
}
