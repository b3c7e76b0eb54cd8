import Foundation
import HealthModel
import OperatingSystem
import Synchronization

/// A client that sends signed requests to a bucket.
///
/// It reads the credentials again if they are refused. If this machine's clock is wrong, it adopts the server's time.
final class S3Client: Sendable {
  struct Request: Sendable {
    var method: String
    /// The name of the object, not encoded; empty for the bucket.
    var name = ""
    var query: [(name: String, value: String)] = []
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    /// The maximum size of the answer to a GET, in bytes.
    var longestAnswer = DayFiles.largestObject
    /// The file that receives the answer to a GET, see ``HTTPService/Request/file``.
    var file: String?
  }

  private struct State {
    var credentials: AWSCredentials
    /// The difference between the server's clock and this machine's; positive if the server is ahead.
    var skew = Duration.zero
  }

  let bucket: S3Bucket
  private let service: HTTPService
  private let source: AWSCredentialSource
  private let state: Mutex<State>
  private let now: @Sendable () -> Timestamp

  /// Creates a client and reads the credentials. Blocking.
  init(
    _ settings: DestinationSettings, _ source: AWSCredentialSource, now: @escaping @Sendable () -> Timestamp = { .now }
  ) throws(SettingsError) {
    bucket = try S3Bucket(settings)
    service = try HTTPService(settings, url: bucket.url, key: "endpoint", timeout: .seconds(120))
    self.source = source
    state = Mutex(State(credentials: try source.read()))
    self.now = now
  }

  func close() async { await service.close() }

  /// Sends a request and returns the answer.
  ///
  /// - Parameter expected: the error statuses that the caller handles.
  /// - Throws: ``S3Failure`` for these statuses, otherwise ``DeliveryError``.
  func send(_ request: Request, expecting expected: Set<Int> = []) async throws -> HTTPService.Response {
    let hash = SignatureV4.hash(request.body ?? [])
    var hasMended = false
    while true {
      let (response, credentials) = try await attempt(request, hash)
      guard let failure = S3Failure(response, mayComeLate: request.method == "POST") else {
        // The callers check the answers to GET and POST.
        if ["PUT", "DELETE"].contains(request.method), response.isPage {
          throw DeliveryError.unusable(
            reason: "the server answers with a page for people (\(response.status)), as no S3 does: is endpoint right?")
        }
        return response
      }
      if !hasMended {
        hasMended = true
        if try await mend(failure, response, used: credentials) { continue }
      }
      if expected.contains(failure.status), !Self.meansCredentials(failure) { throw failure }
      throw failure.deliveryError(bucket)
    }
  }

  private static func meansCredentials(_ failure: S3Failure) -> Bool {
    failure.code != "AccessDenied" && (failure.status == 403 && !failure.code.isEmpty || failure.code == "NoSuchBucket")
  }

  private func attempt(_ request: Request, _ hash: String) async throws -> (HTTPService.Response, AWSCredentials) {
    let (credentials, skew) = state.withLock { ($0.credentials, $0.skew) }
    let signer = SignatureV4(credentials: credentials, region: bucket.region)
    let path = bucket.path + SignatureV4.encoded(request.name, keeping: "/")
    let query = SignatureV4.canonicalQuery(request.query)
    let instant = Timestamp(seconds: now().seconds &+ skew.components.seconds)
    let headers = signer.signedHeaders(
      of: SignatureV4.Request(
        method: request.method, path: path, query: request.query,
        headers: [("host", bucket.host)] + request.headers, payloadHash: hash),
      at: instant)
    var outgoing = HTTPService.Request(
      request.method, bucket.url.absoluteString + path + (query.isEmpty ? "" : "?\(query)"), headers: headers,
      body: request.body)
    outgoing.longestAnswer = request.method == "GET" ? request.longestAnswer : HTTPService.longestReceipt
    outgoing.file = request.file
    if request.method == "GET", !request.name.isEmpty { outgoing.whenLonger = DayFiles.tooLarge(request.name) }
    return (try await service.answer(to: outgoing), credentials)
  }

  /// Corrects the clock or reads the credentials again, as the failure requires.
  ///
  /// - Returns: whether another attempt may succeed.
  private func mend(
    _ failure: S3Failure, _ response: HTTPService.Response, used credentials: AWSCredentials
  ) async throws -> Bool {
    switch failure.code {
    case "RequestTimeTooSkewed":
      guard let date = response.header("Date").flatMap(HTTPDate.timestamp) else { return false }
      let skew = Duration.seconds(date.seconds - now().seconds)
      state.withLock { $0.skew = skew }
      return true
    case "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidClientTokenId":
      // Another program may have renewed temporary credentials in their file.
      guard let fresh = try? await onThread({ [source] _ in try source.read() }), fresh != credentials else {
        return false
      }
      state.withLock { $0.credentials = fresh }
      return true
    default: return false
    }
  }
}

/// The date format of HTTP headers (RFC 9110, section 5.6.7).
enum HTTPDate {
  static func timestamp(_ text: String) -> Timestamp? {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    return format.date(from: text).map { Timestamp(seconds: Int64($0.timeIntervalSince1970)) }
  }
}
