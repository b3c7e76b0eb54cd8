import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOSSL

/// A server that a destination speaks HTTP to: the system's trust or a certificate authority of its own, no redirects, answers
/// of a bounded size, and errors in the words of ``DeliveryError``.
///
/// A failure is temporary (no connection, 408, 425, 429, 5xx: RFC 9110, section 15), or the person's to mend (a name that does
/// not exist, a certificate that is not trusted, 401, 403); any other answer is the caller's to judge.
struct HTTPService: Sendable {
  struct Request: Sendable {
    var method: String
    var url: String
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    var longestAnswer = HTTPService.longestAnswer

    init(_ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil) {
      (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }
  }

  struct Response: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    /// The first header of this name, in whatever case.
    func header(_ name: String) -> String? {
      headers.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
  }

  /// Settings that every kind that speaks HTTP has.
  static let fields = [
    SettingField("ca", .path, "The certificate authority that has signed the server's certificate, a PEM file."),
    SettingField(
      "send-unencrypted", .boolean,
      "Send health data over http:// to another machine, where everybody on the way can read it.", default: "false"),
  ]

  /// The longest answer that is read.
  static let longestAnswer = 16 * 1_024 * 1_024

  private let client: HTTPClient
  /// How long one request may take.
  private let timeout: Duration

  /// - Parameter url: what is spoken to; http:// is refused unless it is this machine or the person has accepted the risk.
  init(_ settings: DestinationSettings, url: URL, timeout: Duration = .seconds(60)) throws(SettingsError) {
    if url.scheme?.lowercased() == "http", !settings.boolean("send-unencrypted"), !Self.isThisMachine(url) {
      throw SettingsError(
        "url",
        .invalid(
          "is http:// to another machine, where everybody on the way can read what is sent: use https://, or set "
            + "send-unencrypted = true"))
    }
    var tls = TLSConfiguration.makeClientConfiguration()
    if let path = settings.optionalText("ca") {
      do {
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
      } catch {
        throw SettingsError("ca", .invalid("is not a readable PEM file with certificates: \(path)"))
      }
    }
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
    configuration.timeout.connect = .seconds(15)
    configuration.httpVersion = .http1Only
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    self.timeout = timeout
  }

  /// Ends all connections.
  func close() async { try? await client.shutdown() }

  /// Whatever the server answers, but for what a later attempt or a person must mend, which is thrown.
  func send(_ request: Request) async throws -> Response {
    let response = try await answer(to: request)
    if let error = Self.failure(response) { throw error }
    return response
  }

  /// Whatever the server answers. Throws ``DeliveryError`` where it does not.
  func answer(to request: Request) async throws -> Response {
    var outgoing = HTTPClientRequest(url: request.url)
    outgoing.method = .RAW(value: request.method)
    for header in request.headers { outgoing.headers.add(name: header.name, value: header.value) }
    if let body = request.body { outgoing.body = .bytes(ByteBuffer(bytes: body)) }
    do {
      let incoming = try await client.execute(outgoing, timeout: TimeAmount(timeout))
      let body = try await incoming.body.collect(upTo: request.longestAnswer)
      return Response(
        status: Int(incoming.status.code), headers: incoming.headers.map { ($0.name, $0.value) },
        body: Array(buffer: body))
    } catch let error as CancellationError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw HTTPFailure.deliveryError(error, url: request.url)
    }
  }

  /// What an answer's status says of later attempts; `nil` where that is the caller's to judge.
  static func failure(_ response: Response) -> DeliveryError? {
    let said = "it answers \(response.status)"
    switch response.status {
    case 401: return .unusable(reason: "\(said): the credentials are wrong")
    case 403: return .unusable(reason: "\(said): the credentials do not allow this")
    case 408, 425, 429, 500...599:
      return .temporary(reason: said, retryAfter: RetryAfter.duration(response.header("Retry-After"), now: Date()))
    default: return nil
    }
  }

  private static func isThisMachine(_ url: URL) -> Bool {
    guard let host = url.host?.lowercased() else { return false }
    return host == "localhost" || host == "::1" || host == "[::1]"
      || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
  }
}
