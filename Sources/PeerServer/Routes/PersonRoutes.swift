import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import NIOCore
import NIOFoundationCompat
import PeerProtocol
import PeerTrust

/// The route `POST /api/v2/person`: whether this record and the caller's are of the same person
/// (`docs/protocol/person.md`).
///
/// Each pairing may compare three different claims; more are answered with 423, so that a birthday cannot be guessed.
/// The answer depends on the whole record, regardless of the caller's scope: a limited scope must not hide that two
/// people's records are about to be mixed.
struct PersonRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    // Not in the reading group: the body may arrive slowly, and almost nothing is read from the store.
    Endpoint(.post, Route.person, for: .paired, compare)
  ]

  let registry: PeerRegistry
  let audit: AuditTrail
  let authentication: BearerAuthentication
  let persons: PersonMarks
  let limits: ServingLimits
  var clock: any Clock<Duration> = ContinuousClock()

  @Sendable private func compare(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let bytes = try await request.message(upTo: limits.bodyBytes, within: limits.body, clock: clock)
    // The client may have lost its authorization while the body arrived.
    var context = context
    context.authentication = nil
    let client = try await authentication.authorize(request, &context)
    guard let claim = try? JSONDecoder().decode(PersonClaim.self, from: Data(bytes.readableBytesView)) else {
      throw ServerFailure.badRequest("The body is no claim of a person")
    }
    guard let count = try await registry.countPersonClaim(claim, token: client.token) else {
      await audit.refusedPerson(of: client)
      throw ServerFailure(
        status: .init(code: 423),
        message: "This pairing has compared \(PeerRegistry.personClaimLimit) persons already: pair again.")
    }
    let (person, mark) = try await persons.current(for: client)
    let verdict = PersonKey(client.token).compare(claim, with: person)
    // An answer that cannot be recorded is not sent.
    try await audit.compared(client, verdict, claims: count)
    return JSONAnswer.response(Envelope(PersonAnswer(verdict, mark: mark.text)))
  }
}

/// The marks that identify the record's person to each client.
struct PersonMarks: Sendable {
  let store: HealthStore

  func current(for client: AuthorizedClient) async throws -> (person: Person, mark: PersonMark) {
    let person = try await store.person()
    return (person, PersonMark(of: person, secret: store.positionKey, token: client.token))
  }

  /// Throws ``ServerFailure`` 412 if the request names another person than the record's current one.
  func require(_ headers: HTTPFields, for client: AuthorizedClient) async throws {
    guard let name = HTTPField.Name(PersonAnswer.markHeader), let wanted = headers[name] else { return }
    guard try await current(for: client).mark.isEqual(to: wanted) else {
      throw ServerFailure(
        status: .preconditionFailed, message: "Whose record this is has changed: ask \(Route.person) again.")
    }
  }
}
