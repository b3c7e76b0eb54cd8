import HTTPTypes
import HealthModel
import Hummingbird
import NIOCore
import PeerProtocol
import PeerTrust

/// The routes by which senders post bodies, the only routes of an inbox.
struct InboxRoutes: Sendable {
  /// The prefix that HealthPush puts before the sender's name in the path.
  private static let healthPushPrefix = "healthpush_"
  private static let aggregationField = HTTPField.Name("automation-aggregation")
  private static let sessionField = HTTPField.Name("session-id")

  let registry: PeerRegistry
  let audit: AuditTrail
  let inbox: any InboxHandler
  let limits: InboxLimits
  let clock: any Clock<Duration>
  /// The request budget of callers without a valid secret.
  let strangers: RequestBudget
  let budget: SenderBudget
  /// The permits for bodies in memory.
  let bodies: FairSemaphore
  /// The single permit for storing a body.
  let taking: FairSemaphore

  func add(to router: Router<PeerRequestContext>) {
    router.post("/inbox/:name", use: receive)
    // The paths of HealthPush's app, made for Home Assistant, and of P247's, which names no sender.
    router.post("/api/webhook/:name", use: receive)
    router.post("/sync/healthkit", use: receive)
  }

  @Sendable private func receive(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let sender = try await sender(of: request, context)
    let client = sender.peerID
    try context.connection?.showToken(of: client)
    try await registry.touchInboxSender(sender)
    try await requireUnlocked(for: sender, context)
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limits.bodyBytes {
      throw await refusal(.tooMuch(Self.tooLarge(limits)), of: sender, context)
    }
    if let seconds = budget.take(sender.name) {
      await audit.refusedBody("rate", of: sender.name, address: context.remoteAddress)
      throw ServerFailure(
        status: .tooManyRequests,
        message: "This app sends too much: try again in \(seconds) s, and have it send less often.",
        headers: [.retryAfter: String(seconds)])
    }
    let permit = try await bodies.acquire(client)
    defer { permit.release() }
    let bytes: ByteBuffer
    do {
      bytes = try await request.message(
        upTo: limits.bodyBytes, within: limits.bodyTime,
        pace: BodyPace(leastBytes: limits.leastBodyBytes, each: limits.bodyPace), clock: clock)
    } catch is NIOTooManyBytesError {
      throw await refusal(.tooMuch(Self.tooLarge(limits)), of: sender, context)
    }
    let turn = try await taking.acquire(client)
    defer { turn.release() }
    // Minutes may have passed, so the sender is checked again: a revoked secret takes effect at once.
    let delivery = InboxDelivery(
      sender: try await self.sender(of: request, context), bytes: Array(bytes.readableBytesView),
      aggregation: Self.aggregationField.flatMap { request.headers[$0] }.map { $0.shortened(toBytes: 64) },
      session: Self.sessionField.flatMap { request.headers[$0] })
    try await requireUnlocked(for: sender, context)
    do {
      let receipt = try await inbox.take(delivery)
      budget.spend(receipt, of: sender.name)
      return Self.answer(receipt)
    } catch let reason as InboxRefusal {
      throw await refusal(reason, of: sender, context)
    }
  }

  private func requireUnlocked(for sender: InboxSender, _ context: PeerRequestContext) async throws {
    guard try await registry.lockedSince() != nil else { return }
    await audit.refusedBody("locked", of: sender.name, address: context.remoteAddress)
    throw ServerFailure.locked
  }

  /// Returns the sender with the request's secret. If the path names a sender, the secret must be that sender's.
  private func sender(of request: Request, _ context: PeerRequestContext) async throws -> InboxSender {
    let secret = InboxSecret.shown(by: request)
    let sender = if let secret { try await registry.inboxSender(showing: secret) } else { InboxSender?.none }
    let named = context.parameters.get("name").map {
      $0.hasPrefix(Self.healthPushPrefix) ? $0.dropFirst(Self.healthPushPrefix.count) : $0[...]
    }
    if let sender, named == nil || named == sender.name[...] || context.parameters.get("name") == sender.name {
      return sender
    }
    switch context.connection?.refusal {
    case .address: throw ServerFailure.tooMany(retryAfter: 5, closing: true)
    case .server: throw ServerFailure.tooBusy
    case nil: break
    }
    if let seconds = strangers.take(context.addressGroup) {
      throw ServerFailure.tooMany(retryAfter: seconds, closing: true)
    }
    await audit.refusedBody(
      secret == nil ? "missing" : sender == nil ? "unknown" : "wrongName", of: nil, address: context.remoteAddress)
    throw ServerFailure(
      status: .unauthorized,
      message:
        "The secret is missing, wrong, or of another path: type in the app the address and the header that `hpeer inbox add` printed.",
      headers: [.wwwAuthenticate: "Bearer", .connection: "close"])
  }

  private func refusal(
    _ reason: InboxRefusal, of sender: InboxSender, _ context: PeerRequestContext
  ) async -> ServerFailure {
    await audit.refusedBody(reason.name, of: sender.name, address: context.remoteAddress)
    var failure = ServerFailure(status: reason.status, message: reason.sentence)
    // The rest of the body is not read.
    if case .tooMuch = reason { failure.headers[.connection] = "close" }
    return failure
  }

  private static func tooLarge(_ limits: InboxLimits) -> String {
    "The body is larger than \(limits.bodyBytes >> 20) MiB: have the app send a shorter time at once."
  }

  private static func answer(_ receipt: InboxReceipt) -> Response {
    guard receipt.format == "healthPush" else { return JSONAnswer.response(Envelope(receipt)) }
    // HealthPush's app expects this text.
    let text = ByteBuffer(string: "Accepted \(receipt.taken) metric(s)")
    return Response(
      status: .ok, headers: [.contentType: "text/plain", .cacheControl: "no-store"], body: .init(byteBuffer: text))
  }
}

extension InboxSender {
  /// The ID by which limits tell senders apart.
  fileprivate var peerID: PeerID {
    guard let id = PeerID(bytes: secretHash.bytes.prefix(PeerID.byteCount)) else {
      preconditionFailure("a hash is longer than an id")
    }
    return id
  }
}

extension InboxRefusal {
  fileprivate var status: HTTPResponse.Status {
    switch self {
    case .unreadable: .badRequest
    case .tooMuch: .contentTooLarge
    case .outOfScope: .forbidden
    case .anotherPerson: .conflict
    case .tooManyNames: .tooManyRequests
    }
  }

  /// The reason's name in the audit log.
  fileprivate var name: String {
    switch self {
    case .unreadable: "unreadable"
    case .tooMuch: "tooMuch"
    case .outOfScope: "scope"
    case .anotherPerson: "person"
    case .tooManyNames: "names"
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .unreadable(let sentence), .tooMuch(let sentence): sentence
    case .outOfScope:
      "This app may send none of the types in the body: choose others in the app, or add it again with --types."
    case .anotherPerson:
      "The record on the other machine is another person's than when this app was added: run `hpeer inbox add` there again."
    case .tooManyNames(let limit):
      "This app has brought more than \(limit) names of sources, types, units and devices: run `hpeer inbox add` again if they are real."
    }
  }
}
