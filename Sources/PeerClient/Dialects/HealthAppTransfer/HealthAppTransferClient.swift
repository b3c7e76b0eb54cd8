import Foundation
import HealthModel
import PeerProtocol
import PeerTrust

/// A client that sends sequential requests to one phone and translates its refusals into errors.
final class HealthAppTransferClient {
  private let settings: PullSettings
  private let endpoint: PeerEndpoint
  private let network = ClientNetwork.current
  private var server: ServerRecord { settings.server }
  /// The number of bytes of received bodies.
  private(set) var bytesReceived = 0
  private(set) var requests = 0

  init(_ settings: PullSettings, at endpoint: PeerEndpoint) {
    (self.settings, self.endpoint) = (settings, endpoint)
  }

  var limits: ClientLimits { network.limits }
  var now: Timestamp { network.now() }
  var clock: any Clock<Duration> { network.clock }

  /// Returns the types that have samples, and the names of types that hpeer does not request.
  func types() async throws -> (known: [HealthAppTransferRequest.AppType], unknown: [String]) {
    let body = try await send(.types(token: server.credential.text))
    guard let listed = decode(HealthAppTransferTypes.self, body)?.types else { throw malformed("its list of types") }
    let names = Set(listed.filter { $0.sampleCount ?? 1 > 0 }.map(\.identifier))
    let known = names.compactMap(HealthAppTransferRequest.AppType.init)
    let unknown = names.subtracting(known.map(\.name)).sorted().prefix(Self.mostUnknown)
    return (known.sorted(), unknown.map { limits.shortened($0) })
  }

  /// The maximum number of unknown names kept, because a phone may send any number.
  private static let mostUnknown = 50

  /// The app's error for a page with a row that has no JSON form, such as a value that is not a number.
  private static let unsendable = PeerError.unexpectedAnswer(status: 500, message: "Failed to encode response")
  /// The maximum number of unsendable rows in a page; with more, the type cannot be read.
  private static let mostUnsendable = 3

  /// Returns a page. If the app cannot send one of its rows, reads the page in parts and leaves out that row.
  func page(
    of type: HealthAppTransferRequest.AppType, offset: Int, limit: Int = HealthAppTransferRequest.mostRows
  ) async throws -> HealthAppTransferPage {
    do {
      return try await wholePage(of: type, offset: offset, limit: limit)
    } catch let error as PeerError where error == Self.unsendable {
      var page = DividedPage(try await parts(of: type, offset, limit), offset: offset)
      var (looks, idle) = (0, 0)
      while let places = page.doubtful, looks < Self.mostLooks, idle < Self.mostIdleLooks {
        let isNew = page.add(try await parts(of: type, places.lowerBound, places.count))
        (looks, idle) = (looks + 1, isNew ? 0 : idle + 1)
      }
      return page.whole
    }
  }

  /// The maximum number of repeated reads. About half of them find a row whose position is unknown.
  private static let mostLooks = 40
  private static let mostIdleLooks = 6

  /// Reads a page in parts and returns them, newest first.
  private func parts(
    of type: HealthAppTransferRequest.AppType, _ offset: Int, _ limit: Int
  ) async throws -> [HealthAppTransferPage] {
    var (parts, left): ([HealthAppTransferPage], Int) = ([], Self.mostUnsendable)
    var rest = [(offset: offset, limit: limit)]
    while let part = rest.popLast() {
      do {
        let page = try await wholePage(of: type, offset: part.offset, limit: part.limit)
        parts.append(page)
        // The app returned a smaller page than requested.
        if page.hasMore, page.limit < part.limit { rest.append((part.offset + page.limit, part.limit - page.limit)) }
      } catch let error as PeerError where error == Self.unsendable {
        guard part.limit == 1 else {
          rest += Self.halves(part.offset, part.limit)
          continue
        }
        left -= 1
        guard left >= 0 else { throw error }
        parts.append(HealthAppTransferPage(unsendableAt: part.offset))
        if rest.isEmpty, let end = try await end(of: type, at: offset + limit) { parts.append(end) }
      }
    }
    return parts
  }

  /// Returns a page without dividing it, or `nil` if it has a row that the app cannot send.
  func pageWithoutUnsendable(
    of type: HealthAppTransferRequest.AppType, _ rows: Range<Int>
  ) async throws -> HealthAppTransferPage? {
    do {
      return try await wholePage(of: type, offset: rows.lowerBound, limit: rows.count)
    } catch let error as PeerError where error == Self.unsendable {
      return nil
    }
  }

  /// Returns an empty page if the list ends before an offset, else nil. After an unsendable row, only this shows
  /// where the list ends.
  private func end(of type: HealthAppTransferRequest.AppType, at offset: Int) async throws -> HealthAppTransferPage? {
    do {
      let page = try await wholePage(of: type, offset: offset, limit: 1)
      return page.hasMore || !page.rows.isEmpty || page.unreadable > 0 ? nil : page
    } catch let error as PeerError where error == Self.unsendable {
      return nil
    }
  }

  /// Returns the two halves of a range, the older half first.
  private static func halves(_ offset: Int, _ limit: Int) -> [(offset: Int, limit: Int)] {
    let newer = limit / 2
    return [(offset + newer, limit - newer), (offset, newer)].filter { $0.limit > 0 }
  }

  private func wholePage(
    of type: HealthAppTransferRequest.AppType, offset: Int, limit: Int
  ) async throws -> HealthAppTransferPage {
    let body = try await send(.data(type, offset: offset, limit: limit, token: server.credential.text))
    do {
      return try HealthAppTransferPage(body, type: type)
    } catch {
      throw malformed("a page of \(type.name)")
    }
  }

  private func send(_ request: HealthAppTransferRequest) async throws -> [UInt8] { try await send(request.request) }

  private func send(_ request: AppRequest) async throws -> [UInt8] {
    try Task.checkCancellation()
    let answer = try await network.exchange(
      request, endpoint, .pinned(server.fingerprint, peer: server.name), HealthAppTransferDialect.profile,
      settings.silenceLimit)
    requests += 1
    bytesReceived += answer.body.count
    settings.heard?(bytesReceived)
    switch answer.status {
    case 200: return answer.body
    case 401: throw PeerError.tokenRefused(peer: server.name)
    case 423: throw PeerError.phoneLocked(peer: server.name)
    case 429, 503: throw PeerError.busy(retryAfter: nil)
    default:
      let message = (try? PhoneBody.decode(Failure.self, answer.body))?.error ?? "no explanation"
      throw PeerError.unexpectedAnswer(status: answer.status, message: limits.shortened(message))
    }
  }

  private struct Failure: Decodable { var error: String }

  private func decode<Content: Decodable>(_ type: Content.Type, _ body: [UInt8]) -> Content? {
    try? PhoneBody.decode(HealthAppTransferEnvelope<Content>.self, body).data
  }

  private func malformed(_ what: String) -> PeerError {
    PeerError.unexpectedAnswer(status: 200, message: "something else than \(what)")
  }
}
