import Foundation
import HealthModel
import PeerProtocol
import TestSupport

/// A server that answers each request as its choices say: usually honestly, or else with anything.
actor HostileServer {
  /// A number of requests that no client may exceed, whatever the server answers.
  static let mostRequests = 600

  private var choices: Choices
  private var feed: HostileFeed
  private let id: PeerID
  private(set) var requests = 0
  /// The bodies of the answers that the client may have read as changes.
  private(set) var pages: [HostileFeed.Page] = []
  /// The tokens that the client sent.
  private(set) var askedSince: [String] = []

  init(_ choices: Choices, id: PeerID, known: [Sample]) {
    self.choices = choices
    self.id = id
    feed = HostileFeed(choices.random, known: known)
  }

  /// Returns whether a connection to the server succeeds.
  func isThere() -> Bool { !choices.oneIn(40) }

  func answer(_ request: HostileRequest) -> [HostileAnswer.Piece] {
    requests += 1
    if requests > Self.mostRequests { return [.close] }
    let answer: HostileAnswer
    if request.path == Route.changes {
      let since = request.query["since"]
      if let since { askedSince.append(since) }
      let page = feed.page(since: since, &choices)
      pages.append(page)
      answer = HostileAnswer(
        type: page.format.rawValue, headers: ["Hpeer-Changes: \(choices.oneIn(4) ? choices.extreme() : "7")"],
        body: page.body)
    } else {
      let body = Array(message(for: request).utf8)
      answer = HostileAnswer(body: HostileBytes.changed(body, &choices, isJSON: true))
    }
    return answer.pieces(&choices)
  }

  private func message(for request: HostileRequest) -> String {
    switch request.path {
    case Route.status:
      json(Envelope(StatusData(version: "1", deviceName: "studio", availableTypes: 3, id: id.hex, time: 1.7e9)))
    case Route.pairHello:
      json(
        try? PairHello(
          versions: [PairingProtocol.version], suite: PairingProtocol.suite, serverID: id,
          salt: [UInt8](repeating: 7, count: PairingProtocol.saltByteCount)))
    case Route.pairStart:
      json(
        try? PairStartResponse(
          session: [UInt8](repeating: 1, count: 16), pB: [4] + [UInt8](repeating: 9, count: 64), ttl: 30))
    case Route.person:
      json(
        Envelope(PersonAnswer(choices.pick([.same, .unknown, .different]), mark: choices.oneIn(3) ? nil : "bWFyaw")))
    case Route.pairing: json(Envelope(pairingView()))
    case Route.digest: json(Envelope(digest(isDeep: request.query["deep"] == "1")))
    default: #"{"success":true,"data":[]}"#
    }
  }

  private func json(_ value: (some Encodable)?) -> String {
    guard let value, let data = try? JSONEncoder().encode(value) else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  private func pairingView() -> PairingView {
    PairingView(
      address: "192.168.1.7", scope: SampleFilter(types: [SampleType("type 0")]), onlyDaily: choices.oneIn(2),
      lastSeen: nil, expires: WireInstant(clamping: 1.8e9), lowSpace: choices.oneIn(2),
      following: .init(endpoint: "192.168.1.7:8737", outcome: choices.pick(PairingView.Outcome.allCases)))
  }

  private func digest(isDeep: Bool) -> DigestData {
    var record = RecordDigest()
    for type in 0..<choices.below(4) {
      let months = (0..<choices.below(4)).map { month in
        MonthDigest(
          month: CalendarMonth(number: month * (choices.oneIn(4) ? 100_000 : 1)),
          samples: SetDigest(count: choices.below(256), sum: 1), tombstones: SetDigest(count: choices.below(3), sum: 2),
          contents: isDeep ? 5 : nil)
      }
      record.types.append(TypeDigest(type: SampleType("type \(type)"), months: months))
    }
    let earliest = choices.oneIn(4) ? Timestamp(microseconds: choices.pick([0, .min, .max, -1])) : nil
    return DigestData(
      record, token: "t",
      filter: SampleFilter(types: choices.oneIn(4) ? [SampleType("type 0")] : nil, earliest: earliest))
  }
}
