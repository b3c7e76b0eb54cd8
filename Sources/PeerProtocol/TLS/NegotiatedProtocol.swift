/// What clients offer in TLS's Application-Layer Protocol Negotiation (RFC 7301). Each of them means HTTP/1.1.
public enum NegotiatedProtocol {
  /// The client speaks `hpeer/1`, and has a certificate of its own for a server that asks. Nobody else is asked: there
  /// are apps that give up a connection in which they are.
  public static let hpeer = StatusData.protocolName
  /// What other clients offer, if anything; they are not asked for a certificate.
  public static let http = "http/1.1"
}
