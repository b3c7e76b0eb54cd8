import CMosquitto
import Glibc

/// The conversion of a broker's errors to ``DeliveryError``: a part of a sentence, and whether to try again.
struct MQTTFailure {
  let host: String
  let version: MQTTConfiguration.Version

  /// Returns the error of a connection that could not be established or has ended.
  ///
  /// - Parameters:
  ///   - code: the return code of libmosquitto.
  ///   - number: the value of `errno` at that time.
  ///   - log: the errors that libmosquitto has logged.
  func connection(_ code: Int32, errno number: Int32, log: [String]) -> DeliveryError {
    let said = log.joined(separator: " ")
    if said.contains("host name verification failed") {
      return .unusable(reason: "the certificate of \(host) is for another name: put that name into url, or renew it")
    }
    if said.contains("certificate has expired") || said.contains("certificate is not yet valid") {
      return .unusable(
        reason: "the certificate of \(host) is not valid today: renew it there, and check the clocks of both machines")
    }
    if said.contains("certificate verify failed") {
      return .unusable(
        reason: "the certificate of \(host) is not trusted or not valid now: set ca to the authority that has signed it"
      )
    }
    if said.contains("alert certificate required") || said.contains("alert handshake failure")
      || said.contains("alert unknown ca") || said.contains("alert bad certificate")
    {
      return wantsCertificate
    }
    if said.contains("wrong version number") {
      return .temporary(reason: "\(host) speaks no TLS on this port: is it mqtt://?")
    }
    switch mosq_err_t(code) {
    case MOSQ_ERR_EAI, MOSQ_ERR_LOOKUP: return .temporary(reason: "the name \(host) is not known")
    case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE: return .temporary(reason: "the TLS handshake with \(host) failed")
    case MOSQ_ERR_ERRNO: return .temporary(reason: "\(host) \(Self.unreachable(number))")
    case MOSQ_ERR_KEEPALIVE: return .temporary(reason: "\(host) does not answer any more")
    default:
      let text = mosquitto_strerror(code).map { String(cString: $0) } ?? "error \(code)"
      return .temporary(reason: "the connection to \(host) was lost (\(text.lowercased().trimmed))")
    }
  }

  /// Returns whether the log explains why a connection failed.
  static func isExplained(_ log: [String]) -> Bool {
    log.contains { $0.contains("wrong version number") || $0.contains("certificate") }
  }

  /// Returns whether a failed connection may have completed the TLS handshake. On a fast or busy machine the
  /// handshake is done when libmosquitto looks, and the broker may be gone again; it reports all of this as `EPROTO`.
  static func isAfterHandshake(_ code: Int32, errno number: Int32) -> Bool {
    switch mosq_err_t(code) {
    case MOSQ_ERR_CONN_LOST: true
    case MOSQ_ERR_ERRNO: [EPROTO, ECONNRESET, EPIPE].contains(number)
    default: false
    }
  }

  /// The error of a broker that has received no client certificate, or none that it trusts.
  var wantsCertificate: DeliveryError {
    .unusable(
      reason: "\(host) wants a certificate from this machine that it trusts: set client-certificate and client-key")
  }

  /// The error of a broker that ends TLS connections at once, on every attempt.
  var endedAfterHandshake: DeliveryError {
    .temporary(
      reason:
        "\(host) ends the connection right after the TLS handshake: where it wants a certificate from this machine, "
        + "set client-certificate and client-key")
  }

  /// Returns the error for an answer to CONNECT: of MQTT 5 (section 3.2.2.2), or of 3.1.1 (section 3.2.2.3).
  func refusal(_ code: Int32) -> DeliveryError {
    switch (version, code) {
    case (.v3, 1), (.v5, 0x84), (.v5, 1):
      .unusable(
        reason: "\(host) does not speak MQTT \(version.rawValue): set version = \"\(version == .v5 ? "3.1.1" : "5")\"")
    case (.v3, 2), (.v5, 0x85): .unusable(reason: "\(host) does not take the client id: set client-id")
    case (.v3, 4), (.v5, 0x86): .unusable(reason: "\(host) says that user or password is wrong")
    case (.v3, 5), (.v5, 0x87):
      .unusable(reason: "\(host) does not let this user in: check user, password and certificate")
    case (.v5, 0x8A): .unusable(reason: "\(host) has banned this client")
    default: .temporary(reason: "\(host) is not available now (code \(code))")
    }
  }

  /// Returns the error for an answer to PUBLISH (MQTT 5, section 3.4.2.1).
  func publishing(_ topic: String, _ code: Int32) -> DeliveryError {
    switch code {
    case 0x87: .unusable(reason: "\(host) does not let this user publish to \(topic)")
    case 0x90: .unusable(reason: "\(host) does not take the topic \(topic)")
    case 0x9A: .unusable(reason: "\(host) keeps no messages: it does not support retain")
    case 0x9B: .unusable(reason: "\(host) does not support this qos")
    default: .temporary(reason: "\(host) did not take a message (code \(code))")
    }
  }

  /// Returns the refusal of a message that no broker could receive, or `nil` for an error of the connection.
  func unpublishable(_ topic: String, _ code: Int32) -> DeliveryError? {
    let name = topic.utf8.prefix(200).map { 0x21...0x7E ~= $0 ? String(UnicodeScalar($0)) : "?" }.joined()
    return switch mosq_err_t(code) {
    case MOSQ_ERR_INVAL, MOSQ_ERR_MALFORMED_UTF8: .refused(reason: "MQTT has no topic called \(name)")
    case MOSQ_ERR_OVERSIZE_PACKET, MOSQ_ERR_PAYLOAD_SIZE:
      .refused(reason: "\(host) takes no message as long as that of \(name)")
    default: nil
    }
  }

  private static func unreachable(_ number: Int32) -> String {
    switch number {
    case ECONNREFUSED: "refuses the connection: does the broker run, and is the port right?"
    case ETIMEDOUT: "does not answer"
    case ENETUNREACH, EHOSTUNREACH: "cannot be reached from here: is there a network?"
    case ECONNRESET, EPIPE, EPROTO: "closed the connection"
    default: "cannot be reached (\(String(cString: strerror(number))))"
    }
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.last == "." || text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
