import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import NIOCore
import NIOFoundationCompat
import PeerProtocol
import PeerTrust

/// `POST /api/v2/person`: whether this record is of the same person as the caller's (`docs/protocol/person.md`).
///
/// Three different claims of one pairing are compared; more are answered with 423, so that nobody finds out a birthday
/// by trying. The answer depends on the whole record, whatever the caller may read of it: what a machine may not see
/// must not keep it from noticing that it is about to mix two people.
struct PersonRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    // Not among those who read: its body may be slow to come, and there is next to nothing to read.
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
    // The right may have been lost while the body came.
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
    // What cannot be written down is not said.
    try await audit.compared(client, verdict, claims: count)
    return JSONAnswer.response(Envelope(PersonAnswer(verdict, mark: mark.text)))
  }
}

/// What the person of the record is called to each client.
struct PersonMarks: Sendable {
  let store: HealthStore

  func current(for client: AuthorizedClient) async throws -> (person: Person, mark: PersonMark) {
    let person = try await store.person()
    return (person, PersonMark(of: person, secret: store.positionKey, token: client.token))
  }

  /// Throws ``ServerFailure`` 412 where the caller asked for the record of another person than it is now.
  func require(_ headers: HTTPFields, for client: AuthorizedClient) async throws {
    guard let name = HTTPField.Name(PersonAnswer.markHeader), let wanted = headers[name] else { return }
    guard try await current(for: client).mark.isEqual(to: wanted) else {
      throw ServerFailure(
        status: .preconditionFailed, message: "Whose record this is has changed: ask \(Route.person) again.")
    }
  }
}
