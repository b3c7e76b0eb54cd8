/// Why a run of SPAKE2 stopped. None of the cases says anything about the password.
enum SPAKE2Error: Error, Hashable, Sendable {
  /// The peer's share is not an uncompressed point of P-256 other than the identity.
  case invalidShare
  /// The shared point K is the identity, which only a dishonest peer can cause.
  case degenerate
  /// A scalar is not in [1, n).
  case invalidScalar
  case openSSL(OpenSSLError)
}
