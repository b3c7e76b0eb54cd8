import Foundation
import HealthModel
import PeerProtocol
import PeerTrust

/// A client that sends sequential requests to one phone, within its rate limit, and translates its refusals into
/// errors.
final class HealthSyncClient {
  private let settings: PullSettings
  private let endpoint: PeerEndpoint
  private let network = ClientNetwork.current
  private let pace: HealthSyncPace
  private var server: ServerRecord { settings.server }
  /// The number of bytes of received bodies.
  private(set) var bytesReceived = 0
  private(set) var requests = 0

  /// The maximum number of consecutive retries after 429 answers.
  private static let mostRefusals = 6

  init(_ settings: PullSettings, at endpoint: PeerEndpoint) {
    (self.settings, self.endpoint) = (settings, endpoint)
    pace = network.paces.pace(of: settings.server, network.clock)
  }

  var limits: ClientLimits { network.limits }
  var now: Timestamp { network.now() }
  var clock: any Clock<Duration> { network.clock }

  /// Returns the types that the phone shares, and the names of types that hpeer does not request.
  func types() async throws -> (known: [HealthSyncRequest.AppType], unknown: [String]) {
    let answer = try await send(.types(token: server.credential.text))
    guard answer.status == 200 else { throw refusal(answer) }
    guard let listed = try? PhoneBody.decode(HealthSyncTypes.self, answer.body) else {
      throw PeerError.unexpectedAnswer(status: 200, message: "something else than its list of types")
    }
    let names = Set(listed.enabledTypes)
    let known = names.compactMap(HealthSyncRequest.AppType.init)
    let unknown = names.subtracting(known.map(\.name)).subtracting(HealthSyncRequest.AppType.forbidden)
    return (known.sorted(), unknown.sorted().prefix(Self.mostUnknown).map { limits.shortened($0) })
  }

  /// The maximum number of unknown names kept, because a phone may send any number.
  private static let mostUnknown = 50

  /// Returns a page, or `nil` for a type that the phone's owner no longer shares.
  func page(
    of type: HealthSyncRequest.AppType, _ seconds: Range<Int64>, offset: Int = 0,
    limit: Int = HealthSyncRequest.mostRows
  ) async throws -> HealthSyncPage? {
    let answer = try await send(.data(type, seconds, offset: offset, limit: limit, token: server.credential.text))
    if answer.status == 403 { return nil }
    guard answer.status == 200 else { throw refusal(answer) }
    do {
      return try HealthSyncPage(answer.body, type: type)
    } catch let refusal as HealthSyncPage.Refusal {
      if refusal.message == "locked" { throw PeerError.phoneLocked(peer: server.name) }
      throw PeerError.unexpectedAnswer(status: 200, message: limits.shortened(refusal.message))
    } catch {
      throw PeerError.unexpectedAnswer(status: 200, message: "something else than samples of \(type.name)")
    }
  }

  /// Returns whether this version of the app has workout routes, or `nil` if that is unknown.
  func hasRoutes() async throws -> Bool? {
    do {
      return switch try await send(.routes(token: server.credential.text)).status {
      case 200: true
      // The app answers 404 only to unknown paths.
      case 404: false
      default: nil
      }
    } catch let error as PeerError where error.category == .interrupted {
      // This request is optional; a persistent network problem will fail the next one.
      return nil
    }
  }

  private func send(_ request: HealthSyncRequest) async throws -> AppAnswer {
    var refusals = 0
    while true {
      try Task.checkCancellation()
      try await pace.take()
      let answer = try await network.exchange(
        request.request, endpoint, .pinned(server.fingerprint, peer: server.name), HealthSyncDialect.profile,
        settings.silenceLimit)
      requests += 1
      bytesReceived += answer.body.count
      settings.heard?(bytesReceived)
      switch answer.status {
      case 401: throw PeerError.tokenRefused(peer: server.name)
      case 423: throw PeerError.phoneLocked(peer: server.name)
      case 429 where refusals < Self.mostRefusals:
        try await clock.sleep(for: HealthSyncPace.pause(afterRefusals: refusals))
        refusals += 1
      case 429: throw PeerError.busy(retryAfter: 60)
      default: return answer
      }
    }
  }

  private func refusal(_ answer: AppAnswer) -> PeerError {
    let text = answer.text.isEmpty ? "no explanation" : answer.text
    return PeerError.unexpectedAnswer(status: answer.status, message: limits.shortened(text))
  }
}
