import AsyncHTTPClient
import OperatingSystem
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOSSL

/// An HTTP client for one server: trusts the system's or a configured certificate authority, follows no redirects,
/// limits the size and duration of answers, and throws ``DeliveryError`` with texts that name only the host.
///
/// A failure is temporary (no connection, 408, 425, 429, 5xx: RFC 9110, section 15) or needs a person (an untrusted
/// certificate, 401, 403). The caller interprets all other answers.
struct HTTPService: Sendable {
  struct Request: Sendable {
    var method: String
    var url: String
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    var longestAnswer = HTTPService.longestAnswer
    /// The path of a file to write a successful answer's body to, in place of ``Response/body``. Overwritten if it
    /// exists.
    var file: String?
    /// The error to throw if the answer is too long; `nil` for a temporary error.
    var whenLonger: DeliveryError?

    init(_ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil) {
      (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }
  }

  struct Response: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    /// Returns the first header with this name, ignoring case.
    func header(_ name: String) -> String? {
      headers.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
    }

    /// Whether the body is an HTML page for people, such as a login page. A server that has really written answers
    /// 201, or 200 or 204 without a page, and likewise for a deletion (RFC 9110, sections 9.3.4 and 9.3.5). An empty
    /// body doesn't count: PHP labels that text/html as well.
    var isPage: Bool {
      !body.isEmpty && header("Content-Type")?.lowercased().hasPrefix("text/html") == true
    }
  }

  /// The settings that every kind with HTTP has.
  static let fields = [
    SettingField("ca", .path, "The certificate authority that has signed the server's certificate, a PEM file."),
    SettingField(
      "send-unencrypted", .boolean,
      "Send health data over http:// to another machine, where everybody on the way can read it.", default: "false"),
  ]

  /// The maximum size of an answer in bytes.
  static let longestAnswer = 16 * 1_024 * 1_024
  /// The maximum number of bytes read of an acknowledgement or a refusal: several requests may be in progress.
  static let longestReceipt = 1_024 * 1_024

  private let client: HTTPClient
  /// The time limit for one request, from its first byte to the last byte of its answer.
  private let timeout: Duration
  private let sendsUnencrypted: Bool

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - url: the server; http:// is refused unless the host is this machine or the person has accepted the risk.
  ///   - key: the name of the setting that contains the URL.
  /// - Throws: ``SettingsError``.
  init(
    _ settings: DestinationSettings, url: URL, key: String = "url", timeout: Duration = .seconds(60)
  ) throws(SettingsError) {
    try Self.requireAcceptedRisk(settings, url: url, key: key)
    sendsUnencrypted = settings.boolean("send-unencrypted")
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    if let path = Self.authority(settings) {
      do {
        let certificates = try NIOSSLCertificate.fromPEMFile(path)
        guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
        tls.trustRoots = .certificates(certificates)
      } catch {
        throw SettingsError("ca", .invalid("is not a readable PEM file with certificates: \(path)"))
      }
    }
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
    configuration.timeout.connect = TimeAmount(min(timeout, .seconds(15)))
    configuration.httpVersion = .http1Only
    // The courier retries, and reports why.
    configuration.connectionPool.retryConnectionEstablishment = false
    // Shorter than the idle timeout of servers, so that a connection that is being closed is rarely used.
    configuration.connectionPool.idleTimeout = .seconds(4)
    configuration.http1_1ConnectionDebugInitializer = ResponseStatusCheck.add
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    self.timeout = timeout
  }

  /// Throws ``SettingsError`` if data for an address can be read in transit and the person hasn't accepted that.
  static func requireAcceptedRisk(
    _ settings: DestinationSettings, url: URL, key: String = "url"
  ) throws(SettingsError) {
    guard !settings.boolean("send-unencrypted"), isReadable(url) else { return }
    let scheme = url.scheme?.lowercased() ?? "http"
    throw SettingsError(
      key,
      .invalid(
        "is \(scheme):// to another machine, where everybody on the way can read what is sent: use \(scheme)s://, or set "
          + "send-unencrypted = true"))
  }

  /// Returns the path of the configured certificate authority, or `nil` if the system's authorities are trusted.
  static func authority(_ settings: DestinationSettings) -> String? {
    settings.optionalText("ca").map { UserPath.expandingTilde($0, ProcessInfo.processInfo.environment) }
  }

  /// Closes all connections.
  func close() async {
    // The shutdown waits for all connections, even one that the server has left hanging.
    await withTaskGroup(of: Void.self) { group in
      let (ended, end) = AsyncStream.makeStream(of: Never.self)
      client.shutdown(queue: .global()) { _ in end.finish() }
      group.addTask { for await _ in ended {} }
      group.addTask { try? await Task.sleep(for: Self.patience) }
      await group.next()
      group.cancelAll()
    }
  }

  /// The time limit for closing connections.
  private static let patience = Duration.seconds(5)

  /// Sends a request and returns the answer. Throws ``DeliveryError`` if there is no answer, or an answer that means
  /// to retry later or that a person must act.
  func send(_ request: Request) async throws -> Response {
    let response = try await answer(to: request)
    if let error = Self.failure(response) { throw error }
    return response
  }

  /// Sends a request and returns any answer. Throws ``DeliveryError`` if there is none.
  func answer(to request: Request) async throws -> Response {
    guard sendsUnencrypted || URL(string: request.url).map(Self.isReadable) == false else {
      throw DeliveryError.unusable(
        reason: "the server names an address where everybody on the way could read what is sent")
    }
    guard URL(string: request.url).map(Self.hasValidPort) != false else {
      throw DeliveryError.unusable(reason: "the address that is asked has a port that there is not")
    }
    let outgoing = try Self.outgoing(request)
    do {
      let response = try await withDeadline { [client, timeout] in
        let incoming = try await client.execute(outgoing, timeout: TimeAmount(timeout))
        let isTaken = (200...299).contains(incoming.status.code)
        let body: ByteBuffer
        if isTaken, let file = request.file {
          try await Self.write(incoming.body, upTo: request.longestAnswer, to: file)
          body = ByteBuffer()
        } else if isTaken {
          body = try await incoming.body.collect(upTo: request.longestAnswer)
        } else {
          body = try await Self.beginning(of: incoming.body)
        }
        return Response(
          status: Int(incoming.status.code), headers: incoming.headers.map { ($0.name, $0.value) },
          body: Array(buffer: body))
      }
      try Task.checkCancellation()
      return response
    } catch let error as CancellationError {
      throw error
    } catch let error as SystemError {
      // An error of the file that receives the answer.
      throw error
    } catch {
      try Task.checkCancellation()
      if error is NIOTooManyBytesError, let refusal = request.whenLonger { throw refusal }
      throw await HTTPFailure.deliveryError(error, url: request.url)
    }
  }

  /// The number of bytes that are collected before they are written to a file.
  private static let piece = 1_024 * 1_024

  private static func write(_ body: HTTPClientResponse.Body, upTo limit: Int, to path: String) async throws {
    let file = try await onThread { _ in try DownloadedFile.Output(path) }
    var (held, length) = (ByteBuffer(), 0)
    for try await part in body {
      length += part.readableBytes
      guard length <= limit else { throw NIOTooManyBytesError(maxBytes: limit) }
      held.writeImmutableBuffer(part)
      guard held.readableBytes >= piece else { continue }
      try await onThread { [held] _ in try file.write(Array(buffer: held)) }
      held.clear()
    }
    try await onThread { [held] _ in try file.write(Array(buffer: held)) }
  }

  /// Returns the beginning of a refusal's body, so that a body that is too long doesn't hide the refusal.
  private static func beginning(of body: HTTPClientResponse.Body) async throws -> ByteBuffer {
    var read = ByteBuffer()
    for try await part in body {
      read.writeBytes(part.readableBytesView.prefix(longestReceipt - read.readableBytes))
      if read.readableBytes == longestReceipt { break }
    }
    return read
  }

  private static func outgoing(_ request: Request) throws(DeliveryError) -> HTTPClientRequest {
    var outgoing = HTTPClientRequest(url: request.url)
    outgoing.method = .RAW(value: request.method)
    for header in request.headers {
      guard HTTPHeaderText.isName(header.name), HTTPHeaderText.isValue(header.value) else {
        throw .unusable(
          reason: "the header \(HTTPHeaderText.isName(header.name) ? header.name : "of a setting") has "
            + "characters that no header may have, such as a line break")
      }
      outgoing.headers.add(name: header.name, value: header.value)
    }
    if !outgoing.headers.contains(name: "User-Agent") { outgoing.headers.add(name: "User-Agent", value: "hpeer") }
    if let body = request.body { outgoing.body = .bytes(ByteBuffer(bytes: body)) }
    return outgoing
  }

  /// Limits the whole exchange: the client's own deadline covers only the head of an answer.
  private func withDeadline(_ ask: @escaping @Sendable () async throws -> Response) async throws -> Response {
    try await withThrowingTaskGroup(of: Response?.self) { [timeout] group in
      group.addTask { try await ask() }
      group.addTask {
        try await Task.sleep(for: timeout)
        return nil
      }
      defer { group.cancelAll() }
      guard let response = try await group.next() ?? nil else { throw HTTPClientError.deadlineExceeded }
      return response
    }
  }

  /// Returns the error for a status that means to retry later or that a person must act, and `nil` for any other.
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

  /// Returns the error for a status that points to a wrong address regardless of the request: moved, missing, or
  /// another service such as a proxy. Returns `nil` for any other status.
  static func misplaced(_ response: Response) -> DeliveryError? {
    let said = "it answers \(response.status)"
    switch response.status {
    case 300...399:
      guard let target = response.header("Location").flatMap(URL.init(string:)), let host = target.host else {
        return .unusable(reason: "\(said), and sends elsewhere, which is not followed: is url right?")
      }
      return .unusable(
        reason: "\(said), and sends on to \(target.scheme ?? "https")://\(host), which is not followed: put the new "
          + "address into url")
    case 404, 410: return .unusable(reason: "\(said): there is nothing at this address, is url right?")
    case 405: return .unusable(reason: "\(said): it does not take this method there, is url right?")
    case 407: return .unusable(reason: "\(said): a proxy on the way wants credentials")
    case 421, 426: return .unusable(reason: "\(said): is url right?")
    default: return nil
    }
  }

  /// Returns whether data for this address can be read in transit: it is not encrypted and leaves this machine.
  private static func isReadable(_ url: URL) -> Bool {
    !["https", "mqtts"].contains(url.scheme?.lowercased()) && !isThisMachine(url)
  }

  /// Returns whether the port is valid: the networking libraries terminate the process for any other.
  static func hasValidPort(_ url: URL) -> Bool {
    if let port = url.port { return (1...65_535).contains(port) }
    // Foundation reports no port for a number too long for `Int`, and the scheme's default would be used.
    return URLComponents(url: url, resolvingAgainstBaseURL: false)?.rangeOfPort == nil
  }

  private static func isThisMachine(_ url: URL) -> Bool {
    guard var host = url.host?.lowercased() else { return false }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
    if inet_pton(AF_INET6, host, &six) == 1 {
      return withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
    return host == "localhost"
  }
}
