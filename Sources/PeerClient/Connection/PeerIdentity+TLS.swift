import NIOSSL
import PeerTrust

extension PeerIdentity {
  var tlsCertificate: NIOSSLCertificate {
    get throws { try NIOSSLCertificate(bytes: certificateDER, format: .der) }
  }

  var tlsPrivateKey: NIOSSLPrivateKey {
    get throws { try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem) }
  }
}
