import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import PeerProtocol

/// A failed response: a status and a sentence, sent as `{"success":false,"error":"…"}`.
struct ServerFailure: Error {
  var status: HTTPResponse.Status
  var message: String
  var headers = HTTPFields()

  static func badRequest(_ message: String) -> Self { .init(status: .badRequest, message: message) }

  static var unauthorized: Self {
    .init(status: .unauthorized, message: "Unauthorized", headers: [.wwwAuthenticate: "Bearer"])
  }

  /// The 403 failure for a client that may only read daily values.
  static var onlyDaily: Self {
    .init(
      status: .forbidden,
      message:
        "This client may read numbers of whole days only: finished days of this machine's home zone, from /api/v2/statistics."
    )
  }

  /// The 423 failure for a machine that its owner has locked.
  static var locked: Self {
    .init(
      status: .init(code: 423, reasonPhrase: "Locked"),
      message: FailureEnvelope.machineLocked)
  }

  static var tokenGone: Self {
    .init(status: .gone, message: "The change token is not valid for this store and filter: start over without one.")
  }

  /// The 406 failure for a client that only accepts the feed of another version of hpeer.
  static var otherFeedVersion: Self {
    .init(
      status: .notAcceptable,
      message:
        "This machine runs another version of hpeer, and the changes that it sends would not be understood there: update hpeer on both."
    )
  }

  /// The 503 failure when all long-poll permits of the server or of this client are in use.
  static var tooManyWait: Self {
    .init(
      status: .serviceUnavailable, message: "Too many requests wait for changes: try again in 30 s.",
      headers: [.retryAfter: "30"])
  }

  /// The 429 failure when the client's request queue is full or all its allowed connections are busy.
  static var tooManyOfClient: Self {
    .init(
      status: .tooManyRequests, message: "Too many requests of this client at once: try again in 5 s.",
      headers: [.retryAfter: "5", .connection: "close"])
  }

  /// The 503 failure when the client's scope changed while its request was being answered.
  static var scopeChanged: Self {
    .init(
      status: .serviceUnavailable, message: "What this client may read has just been changed: try again.",
      headers: [.retryAfter: "1"])
  }

  func response() -> Response {
    JSONAnswer.response(FailureEnvelope(message), status: status, headers: headers)
  }
}
