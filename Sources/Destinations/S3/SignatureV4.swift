import Cryptography
import Foundation
import HealthModel

/// A signer for AWS Signature Version 4, in the header `Authorization`.
///
/// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
struct SignatureV4: Sendable {
  /// The way to make a path canonical.
  enum PathForm: Sendable {
    /// The path as it is sent: S3, where `//` and `..` are parts of names.
    case asSent
    /// The path with all bytes encoded except unreserved ones (RFC 3986): all other services.
    case encoded
    /// The encoded path after removing `.`, `..` and empty parts.
    case normalized
  }

  struct Request: Sendable {
    var method: String
    /// The path as it is sent: for S3, percent-encoded once.
    var path: String
    /// The parameters, not encoded.
    var query: [(name: String, value: String)] = []
    /// The headers, all of which are signed, including `host`.
    var headers: [(name: String, value: String)]
    /// The SHA-256 of the body, in hexadecimal digits.
    var payloadHash: String
  }

  var credentials: AWSCredentials
  var region: String
  var service = "s3"
  var pathForm = PathForm.asSent

  /// Returns the headers to send: those of the request, and those of the signature.
  ///
  /// - Parameters:
  ///   - signsPayloadHash: whether to add and sign `x-amz-content-sha256`, as S3 requires.
  ///   - signsToken: whether a session token is a signed header, as S3 requires.
  func signedHeaders(
    of request: Request, at instant: Timestamp, signsPayloadHash: Bool = true, signsToken: Bool = true
  ) -> [(name: String, value: String)] {
    var request = request
    request.headers.append(("x-amz-date", Self.date(instant)))
    if signsPayloadHash { request.headers.append(("x-amz-content-sha256", request.payloadHash)) }
    if signsToken, let token = credentials.sessionToken { request.headers.append(("x-amz-security-token", token)) }
    var headers = request.headers
    headers.append(("authorization", authorization(of: request, at: instant)))
    if !signsToken, let token = credentials.sessionToken { headers.append(("x-amz-security-token", token)) }
    return headers
  }

  // MARK: Steps

  /// Returns the `Authorization` header of a request that already has `x-amz-date`.
  private func authorization(of request: Request, at instant: Timestamp) -> String {
    "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope(at: instant)), "
      + "SignedHeaders=\(Self.signedNames(request)), Signature=\(signature(of: request, at: instant))"
  }

  func signature(of request: Request, at instant: Timestamp) -> String {
    func code(_ key: [UInt8], _ text: String) -> [UInt8] {
      HMAC.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: key))
    }
    let dateKey = code(Array("AWS4\(credentials.secretKey)".utf8), String(Self.date(instant).prefix(8)))
    let key = code(code(code(dateKey, region), service), "aws4_request")
    return Self.hexadecimal(code(key, stringToSign(for: request, at: instant)))
  }

  func stringToSign(for request: Request, at instant: Timestamp) -> String {
    let hash = Self.hexadecimal(SHA256.hash(data: Data(canonicalRequest(of: request).utf8)))
    return "AWS4-HMAC-SHA256\n\(Self.date(instant))\n\(scope(at: instant))\n\(hash)"
  }

  func canonicalRequest(of request: Request) -> String {
    let headers = Self.canonicalHeaders(request).map { "\($0.name):\($0.value)\n" }.joined()
    return [
      request.method, canonicalPath(request.path), Self.canonicalQuery(request.query), headers,
      Self.signedNames(request), request.payloadHash,
    ].joined(separator: "\n")
  }

  private func scope(at instant: Timestamp) -> String {
    "\(Self.date(instant).prefix(8))/\(region)/\(service)/aws4_request"
  }

  private func canonicalPath(_ path: String) -> String {
    switch pathForm {
    case .asSent: path.isEmpty ? "/" : path
    case .encoded: Self.encoded(path, keeping: "/")
    case .normalized: Self.encoded(Self.normalized(path), keeping: "/")
    }
  }

  private static func normalized(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    let isFolder = ["/", "/.", "/.."].contains { path.hasSuffix($0) }
    return "/" + parts.joined(separator: "/") + (isFolder && !parts.isEmpty ? "/" : "")
  }

  /// Returns the query as it is sent and signed: sorted by the encoded bytes.
  static func canonicalQuery(_ query: [(name: String, value: String)]) -> String {
    query.map { (encoded($0.name), encoded($0.value)) }
      .sorted { Array($0.0.utf8) != Array($1.0.utf8) ? precedes($0.0, $1.0) : precedes($0.1, $1.1) }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }

  private static func precedes(_ first: String, _ second: String) -> Bool {
    first.utf8.lexicographicallyPrecedes(second.utf8)
  }

  private static func canonicalHeaders(_ request: Request) -> [(name: String, value: String)] {
    var values: [String: [String]] = [:]
    for header in request.headers {
      let words = header.value.split { $0 == " " || $0 == "\t" || $0.isNewline }
      values[header.name.lowercased(), default: []].append(words.joined(separator: " "))
    }
    return values.sorted { precedes($0.key, $1.key) }.map { ($0.key, $0.value.joined(separator: ",")) }
  }

  private static func signedNames(_ request: Request) -> String {
    canonicalHeaders(request).map(\.name).joined(separator: ";")
  }

  // MARK: Texts

  /// Percent-encodes all bytes but the unreserved ones of RFC 3986 and `kept`.
  static func encoded(_ text: String, keeping kept: StaticString = "") -> String {
    let kept = "\(kept)".utf8
    return text.utf8.reduce(into: "") { result, byte in
      let isPlain =
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-._~".utf8.contains(byte)
        || kept.contains(byte)
      result += isPlain ? String(UnicodeScalar(byte)) : "%" + two(byte)
    }
  }

  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String { RadixCoding.hex.encode(bytes) }

  /// Returns the SHA-256 of a body, in hexadecimal digits.
  static func hash(_ body: [UInt8]) -> String { hexadecimal(SHA256.hash(data: body)) }

  private static func two(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  /// Returns an instant as `20150830T123600Z`.
  private static func date(_ instant: Timestamp) -> String {
    Timestamp(seconds: instant.seconds).iso8601.filter { $0 != "-" && $0 != ":" }
  }
}
