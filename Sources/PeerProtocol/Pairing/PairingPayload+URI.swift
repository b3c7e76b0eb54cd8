/// The payload as a URI: `HPEER:P1/<HOST>:<PORT>/<BASE32 FINGERPRINT>/<CODE>`
///
/// Every character is in the alphanumeric set of QR codes (ISO/IEC 18004: `0-9 A-Z $ % * + - . / :` and space), which
/// takes 5.5 bits a character instead of 8. Brackets are not in that set, so an IPv6 address is enclosed in
/// asterisks: `HPEER:P1/*FD00::12*:8443/...`. Host names are case-insensitive; parsing yields lower case.
extension PairingPayload {
  static let uriScheme = "HPEER:"

  /// The payload as a URI, without ``expiry``. Its QR code has 41 columns for most hosts.
  public var uri: String {
    let authority = PairingHost.isIPv6(host) ? "*\(host)*" : host
    return "\(Self.uriScheme)P1/\(authority.uppercased()):\(port)/\(fingerprint.base32)/\(code.digits)"
  }

  static func parseURI(_ text: String) throws(PairingPayloadError) -> PairingPayload {
    let fields = text.dropFirst(uriScheme.count).split(separator: "/", omittingEmptySubsequences: false)
    let version = fields[0].uppercased()
    guard version == "P1" else {
      let digits = version.utf8.dropFirst()
      let isVersion =
        version.hasPrefix("P") && (1...3).contains(digits.count) && digits.allSatisfy { (0x30...0x39).contains($0) }
      throw isVersion ? .unsupportedVersion(version) : .notAPayload
    }
    guard fields.count == 4 else { throw .badField("fields") }
    let (host, port) = try parseAuthority(fields[1])
    guard fields[2].utf8.count == 52, let fingerprint = Fingerprint(base32: fields[2]) else {
      throw .badField("fingerprint")
    }
    guard fields[3].utf8.count == PairingCode.digitCount, let code = PairingCode(fields[3]) else {
      throw .badField("code")
    }
    return try PairingPayload(host: host, port: port, fingerprint: fingerprint, code: code)
  }

  private static func parseAuthority(_ text: Substring) throws(PairingPayloadError) -> (host: String, port: UInt16) {
    guard let colon = text.lastIndex(of: ":") else { throw .badField("port") }
    let digits = text[text.index(after: colon)...]
    // A port has one spelling, but `UInt16.init` also accepts a sign and leading zeros.
    guard let port = UInt16(digits), String(port) == digits else { throw .badField("port") }
    let host = text[..<colon]
    guard host.contains(":") else {
      guard !host.contains("*") else { throw .badField("host") }
      return (String(host), port)
    }
    guard host.utf8.count > 2, host.hasPrefix("*"), host.hasSuffix("*") else { throw .badField("host") }
    return (String(host.dropFirst().dropLast()), port)
  }
}
