/// The constants of `hpeer-pair/1`, hpeer's pairing by a typed code: SPAKE2 (RFC 9382) bound to the server's
/// certificate.
public enum PairingProtocol {
  /// The protocol version that this build speaks, and the prefix of every domain separator in it.
  public static let version = "hpeer-pair/1"
  /// The cipher suite SPAKE2-P256-SHA256-HKDF-HMAC of RFC 9382, as spelled on the wire and in the transcript.
  public static let suite = "P256-SHA256-HKDF-HMAC"
  /// The channel binding: the SHA-256 of the server's certificate.
  public static let binding = "cert-sha256"

  /// The path of `GET` ``PairHello``.
  public static let helloPath = "/pair/v1/hello"
  /// The path to which a client posts ``PairStartRequest``; the answer is ``PairStartResponse``.
  public static let startPath = "/pair/v1/start"
  /// The path to which a client posts ``PairFinishRequest``; the answer is ``PairFinishResponse``.
  public static let finishPath = "/pair/v1/finish"

  /// The length of a code's salt in bytes.
  public static let saltByteCount = 16
  /// The length of a session identifier in bytes.
  public static let sessionByteCount = 16
  /// The length of an uncompressed point of P-256 (SEC 1 section 2.3.3).
  public static let shareByteCount = 65
  /// The length of a confirmation and of a receipt, which are HMAC-SHA256.
  public static let confirmationByteCount = 32

  /// The maximum length of a machine's name in bytes of UTF-8.
  public static let maximumNameByteCount = 64
  /// The maximum number of versions in a message.
  public static let maximumVersionCount = 8
  /// The maximum length of a version's name in ASCII characters.
  public static let maximumVersionByteCount = 32

  /// Returns a name truncated at a character boundary to at most 64 bytes of UTF-8, without control characters and
  /// outer white space. An empty name becomes `unnamed`.
  public static func trimmedName(_ name: String) -> String {
    var result = ""
    var count = 0
    let printable = name.unicodeScalars.filter { $0.properties.generalCategory != .control }
    for character in String(String.UnicodeScalarView(printable)).trimmed {
      count += character.utf8.count
      guard count <= maximumNameByteCount else { break }
      result.append(character)
    }
    result = result.trimmed
    return result.isEmpty ? "unnamed" : result
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
