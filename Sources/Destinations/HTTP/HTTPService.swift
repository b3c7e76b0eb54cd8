import AsyncHTTPClient
import OperatingSystem
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOSSL

/// A server that a destination speaks HTTP to: the system's trust or a certificate authority of its own, no redirects, answers
/// of a bounded size within a bounded time, and errors in the words of ``DeliveryError``, which name a host and no more.
///
/// A failure is temporary (no connection, 408, 425, 429, 5xx: RFC 9110, section 15), or the person's to mend (a certificate
/// that is not trusted, 401, 403); any other answer is the caller's to judge.
struct HTTPService: Sendable {
  struct Request: Sendable {
    var method: String
    var url: String
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    var longestAnswer = HTTPService.longestAnswer
    /// The path of a file that the body of a good answer is written to, whatever is there, in place of ``Response/body``.
    var file: String?
    /// Thrown where the answer is longer: by default, that a later one may not be.
    var whenLonger: DeliveryError?

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

    /// A page for people, for logging in say, which any web server may answer with: one that has written answers 201, or 200
    /// and 204 without a page, and so does one that has deleted (RFC 9110, sections 9.3.4 and 9.3.5). PHP calls text/html
    /// also what is empty.
    var isPage: Bool {
      !body.isEmpty && header("Content-Type")?.lowercased().hasPrefix("text/html") == true
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
  /// How much is read of what only acknowledges a write, or refuses something: several requests may be under way.
  static let longestReceipt = 1_024 * 1_024

  private let client: HTTPClient
  /// How long one request may take, from its first byte to the last of its answer.
  private let timeout: Duration
  private let sendsUnencrypted: Bool

  /// - Parameters:
  ///   - url: what is spoken to; http:// is refused unless it is this machine or the person has accepted the risk.
  ///   - key: of the setting that says so.
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
    // The courier tries again, and says why.
    configuration.connectionPool.retryConnectionEstablishment = false
    // Shorter than servers keep idle connections, so that one that is just being closed is rarely used.
    configuration.connectionPool.idleTimeout = .seconds(4)
    configuration.http1_1ConnectionDebugInitializer = ResponseStatusCheck.add
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    self.timeout = timeout
  }

  /// Throws ``SettingsError`` where others can read what goes to an address, and the person has not accepted that.
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

  /// The path of the certificate authority that a person has set; `nil` where the system's are trusted.
  static func authority(_ settings: DestinationSettings) -> String? {
    settings.optionalText("ca").map { UserPath.expandingTilde($0, ProcessInfo.processInfo.environment) }
  }

  /// Ends all connections.
  func close() async {
    // It waits for connections, also for one that a server has left in a state of its own.
    await withTaskGroup(of: Void.self) { group in
      let (ended, end) = AsyncStream.makeStream(of: Never.self)
      client.shutdown(queue: .global()) { _ in end.finish() }
      group.addTask { for await _ in ended {} }
      group.addTask { try? await Task.sleep(for: Self.patience) }
      await group.next()
      group.cancelAll()
    }
  }

  /// How long connections have to end.
  private static let patience = Duration.seconds(5)

  /// Whatever the server answers, but for what a later attempt or a person must mend, which is thrown.
  func send(_ request: Request) async throws -> Response {
    let response = try await answer(to: request)
    if let error = Self.failure(response) { throw error }
    return response
  }

  /// Whatever the server answers. Throws ``DeliveryError`` where it does not.
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
      // Of the file that the answer is written to.
      throw error
    } catch {
      try Task.checkCancellation()
      if error is NIOTooManyBytesError, let refusal = request.whenLonger { throw refusal }
      throw await HTTPFailure.deliveryError(error, url: request.url)
    }
  }

  /// How much of a body is held before it is written to a file.
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

  /// A refusal is one however much a server says of it: what is too long is cut off.
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

  /// The client's own deadline ends with the head of an answer.
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

  /// What an answer says of the address that was asked, whatever was sent: it has moved, it is not there, or something else is
  /// (a proxy, say). `nil` of any other answer.
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

  /// Whether others can read what goes to an address.
  private static func isReadable(_ url: URL) -> Bool {
    !["https", "mqtts"].contains(url.scheme?.lowercased()) && !isThisMachine(url)
  }

  /// Whether there is such a port: the libraries that connect end the process at any other.
  static func hasValidPort(_ url: URL) -> Bool {
    if let port = url.port { return (1...65_535).contains(port) }
    // A number that is too long for `Int` is no port to Foundation, and would count as the scheme's own.
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
