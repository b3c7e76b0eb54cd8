import Cryptography

/// An error that ended the client's side of `hpeer-pair/1`. Nothing has been stored.
public enum PairingExchangeError: Error, Hashable, Sendable {
  /// The server offers another suite or none of the client's versions.
  case unsupportedVersion
  /// The server's window is closed, so there is no code to try.
  case windowClosed
  /// The server's share is not a valid point, or makes the shared key trivial: the server is faulty or dishonest.
  case badServerShare
  /// The server could not prove that it knows the code.
  case serverNotAuthenticated
  /// The server's proof is correct, but its receipt is not.
  case badReceipt
  /// libcrypto failed, which should not happen.
  case openSSL(OpenSSLError)
}

extension PairingExchangeError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unsupportedVersion:
      "The server does not speak hpeer-pair/1: install the same hpeer on both machines."
    case .windowClosed:
      "The server is not accepting new devices: run 'hpeer pair --wait' on it, then try again."
    case .badServerShare:
      "The server sent an invalid key share, so pairing stopped: make sure that you are on your own network."
    case .serverNotAuthenticated:
      "The server could not prove that it knows the code, so nothing was stored: make sure that you are on your own "
        + "network, for someone may be between the two machines."
    case .badReceipt:
      "The server's receipt does not fit its proof, so nothing was stored: start pairing again."
    case .openSSL(let error):
      error.description
    }
  }

  init(_ error: P256Error) {
    self =
      switch error {
      case .invalidShare, .degenerate: .badServerShare
      case .invalidScalar: .openSSL(OpenSSLError("scalar out of range"))
      case .openSSL(let error): .openSSL(error)
      }
  }
}
