import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust

extension PeerConnection {
  /// Requests the peer's digest and the filter under which it was made.
  func digest(
    of server: ServerRecord, types: [SampleType], months: ClosedRange<CalendarMonth>? = nil, isDeep: Bool = false
  ) async throws -> (record: RecordDigest, filter: SampleFilter) {
    let path = Self.digestPath(types: types, months: months, isDeep: isDeep)
    while true {
      let head = try await send(.GET, path, headers: [("Authorization", "Bearer \(server.credential.text)")])
      guard head.status != .ok else { break }
      let raw = try await body()
      let pause = head.retryAfter
      switch head.status.code {
      // The peer computes its digests in steps and asks for retries meanwhile.
      case 503 where busyAnswers < limits.busyAnswers && pause != nil:
        busyAnswers += 1
        try await ClientNetwork.current.clock.sleep(for: min(.seconds(max(1, pause ?? 1)), limits.busyPause))
      case 429, 503: throw PeerError.busy(retryAfter: pause)
      case 401: throw PeerError.tokenRefused(peer: server.name)
      case 403: throw PeerError.onlyDaily(peer: server.name)
      case 423: throw PeerError.machineLocked(peer: server.name)
      case 404: throw PeerError.unexpectedAnswer(status: 404, message: "its hpeer has no digests yet: update it")
      default: throw failure(status: Int(head.status.code), raw: raw)
      }
    }
    return try digest(in: try await body(limit: limits.digest.bytes), isDeep: isDeep)
  }

  private func digest(in bytes: Data, isDeep: Bool) throws -> (record: RecordDigest, filter: SampleFilter) {
    guard bytes.withUnsafeBytes({ limits.digest.verdict(on: $0) }) == .fits,
      let data = (try? JSONDecoder().decode(Envelope<DigestData>.self, from: bytes))?.data
    else {
      throw PeerError.unexpectedAnswer(status: 200, message: "something that is not a digest")
    }
    let record: RecordDigest
    do throws(DigestDataError) {
      record = try data.digest()
    } catch {
      throw PeerError.unexpectedAnswer(status: 200, message: error.description)
    }
    guard record.types.allSatisfy({ type in type.months.allSatisfy { ($0.contents != nil) == isDeep } }) else {
      throw PeerError.unexpectedAnswer(status: 200, message: "a digest without the contents, or with them unasked")
    }
    return (record, data.filter)
  }

  private static func digestPath(
    types: [SampleType], months: ClosedRange<CalendarMonth>?, isDeep: Bool
  ) -> String {
    var query: [String] = []
    if !types.isEmpty {
      query.append("types=" + types.map { escaped($0.rawValue) }.sorted().joined(separator: ","))
    }
    if let months { query += ["from=\(escaped("\(months.lowerBound)"))", "to=\(escaped("\(months.upperBound)"))"] }
    if isDeep { query.append("deep=1") }
    return Route.digest + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }

  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// The unreserved characters of RFC 3986 section 2.3.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
