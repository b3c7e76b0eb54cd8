import Hummingbird
import Logging
import NIOCore
import NIOSSL
import PeerProtocol
import PeerTrust

/// The context of a request: where it came from and, once ``BearerAuthentication`` has run, which client sent it.
struct PeerRequestContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The numeric address of the caller, which proves nothing.
  let remoteAddress: String
  private let channel: any Channel
  /// The IPv4 address or IPv6 /64 under which limits count the caller.
  let addressGroup: AddressGroup
  /// The connection of the request, if there is one.
  let connection: ServingConnection?
  /// The registry's result for the request's token, cached so that it is asked once per request; `nil` before.
  var authentication: Result<AuthorizedClient, BearerAuthentication.Refusal>?

  /// Returns the authenticated client. Throws ``ServerFailure`` 401 outside ``BearerAuthentication``.
  func authorized() throws(ServerFailure) -> AuthorizedClient {
    guard let client = try? authentication?.get() else { throw .unauthorized }
    return client
  }
  /// The permit of ``ResponseLimit``, released while the request waits for anything except its reader.
  var responsePermit: FairSemaphore.Permit?
  /// The scope that the answer uses, set by ``AuthorizationRecheck``. The client must have it until the answer ends.
  var granted: GrantedScope?
  /// The permit of ``FairScheduling``, released while the request waits for anything except the store.
  var storePermit: FairSemaphore.Permit?

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
    remoteAddress = Self.text(of: source.channel.remoteAddress)
    addressGroup = AddressGroup(source.channel.remoteAddress)
    connection = ServingConnection.current
  }

  /// Returns the fingerprint of the certificate in this connection's handshake, which proved that the client holds
  /// the key, or `nil` if the client sent none.
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
