import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import PeerProtocol
import PeerTrust

/// The routes of `hpeer-pair/1` and of HealthAppTransfer's pairing by plain code. Both share the pairing desk's
/// budget of attempts.
struct PairingRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.pairHello, for: .anyone, hello),
    Endpoint(.post, Route.pairStart, for: .anyone, start),
    Endpoint(.post, Route.pairFinish, for: .anyone, finish),
    Endpoint(.post, Route.plainPair, for: .anyone, plain),
  ]

  let desk: PairingCoordinator
  let limits: ServingLimits
  var clock: any Clock<Duration> = ContinuousClock()

  @Sendable private func hello(_ request: Request, context: PeerRequestContext) async throws -> Response {
    JSONAnswer.response(await desk.hello())
  }

  @Sendable private func start(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let message = try await decode(PairStartRequest.self, request)
    return JSONAnswer.response(
      try await desk.start(
        message, clientFingerprint: try await context.clientFingerprint(), rotation: request.rotation,
        from: context.addressGroup.description))
  }

  @Sendable private func finish(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let message = try await decode(PairFinishRequest.self, request)
    return JSONAnswer.response(try await desk.finish(message))
  }

  /// Answers `POST /api/v1/pair`, by which HealthAppTransfer's clients pair: `{"code","deviceName"?}` to
  /// `{"token","deviceID"}` (`PlainPairing` of `openapi.yaml`).
  @Sendable private func plain(_ request: Request, context: PeerRequestContext) async throws -> Response {
    struct Body: Decodable {
      var code: String
      var deviceName: String?
    }
    struct Answer: Encodable {
      var token: String
      var deviceID: String
      /// The number of seconds after which the token expires unless it is used.
      var expiresIn: Double
    }
    // A client with a certificate would get a second identity, without the limits of its first.
    guard try await context.clientFingerprint() == nil else {
      throw ServerFailure.badRequest("A client that shows a certificate pairs by \(Route.pairStart)")
    }
    let bytes = try await request.message(upTo: limits.bodyBytes, within: limits.body, clock: clock)
    guard let body = try? JSONDecoder().decode(Body.self, from: Data(bytes.readableBytesView)) else {
      throw ServerFailure.badRequest("Missing or invalid pairing code in request body")
    }
    do {
      let pairing = try await desk.plainPair(
        code: body.code, deviceName: body.deviceName, from: context.addressGroup.description)
      let answer = Answer(
        token: pairing.token.text, deviceID: pairing.clientID.uuid.uuidString,
        expiresIn: pairing.expiresAt.timeIntervalSinceNow.rounded())
      return JSONAnswer.response(Envelope(answer))
    } catch PairRejection.wrongCode, PairRejection.windowClosed {
      throw ServerFailure(status: .unauthorized, message: "Invalid or expired pairing code")
    }
  }

  private func decode<Message: Decodable>(_ type: Message.Type, _ request: Request) async throws -> Message {
    let bytes = try await request.message(upTo: limits.bodyBytes, within: limits.body, clock: clock)
    do {
      return try JSONDecoder().decode(type, from: Data(bytes.readableBytesView))
    } catch {
      throw PairRejection.malformed
    }
  }
}

extension PeerID {
  /// The 16 bytes as a UUID, the spelling of device identifiers in HealthAppTransfer.
  var uuid: UUID {
    var value = UUID().uuid
    withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
    return UUID(uuid: value)
  }
}

/// The route `DELETE /api/v2/pairing`, by which a client ends its own pairing. Its token is refused from then on.
struct PairedRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    // Not in the reading group: the recheck would fail, because this request ends the authorization.
    Endpoint(.delete, Route.pairing, for: .paired, end)
  ]

  let registry: PeerRegistry
  let audit: AuditTrail

  @Sendable private func end(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let client = try context.authorized()
    try await registry.revoke(id: client.id)
    await audit.record(.pairingEnded, ["peer": client.name, "id": client.id.hex, "by": "peer"])
    return JSONAnswer.response(Envelope([String: String]()))
  }
}
