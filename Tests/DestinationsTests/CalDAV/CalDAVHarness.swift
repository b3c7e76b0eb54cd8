import Foundation
import HealthModel
import TestSupport

@testable import Destinations

/// The harness of the destination `caldav`, with calendars on a Radicale server.
struct CalDAVHarness: DestinationHarness {
  typealias Place = CalDAVDestination

  let server: RadicaleServer

  static func start() throws -> Self {
    guard RadicaleServer.isHere else { throw HarnessUnavailable(RadicaleServer.missing) }
    return Self(server: try RadicaleServer())
  }

  var port: Int? { server.port }
  var secrets: [String: String] { ["PASSWORD": "s3cret"] }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    [
      "url": .text("\(place.scheme)://127.0.0.1:\(place.port)/ada/\(place.name)/"), "username": .text("ada"),
      "password": .text("env:PASSWORD"),
    ]
  }

  /// Returns workouts of half an hour, one after the other.
  func samples(_ count: Int) -> [Sample] { Self.workouts(count) }

  static func workouts(_ count: Int) -> [Sample] {
    var maker = SampleMaker(seed: 16)
    return (0..<count).map { number in
      let start = Timestamp(seconds: 1_718_447_400 + Int64(number) * 3_600)
      return Sample(
        uuid: maker.uuid(), type: .workout, start: start, end: Timestamp(seconds: start.seconds + 1_800),
        source: Source(name: "Watch"), payload: .workout(Workout(activityType: .value(37), duration: 1_800)))
    }
  }

  func contents(of place: HarnessPlace) async throws -> [String] {
    let answer = try await server.ask("GET", server.url(place.name))
    return String(decoding: answer.body, as: UTF8.self).split(whereSeparator: \.isNewline)
      .filter { $0.hasPrefix("UID:") }.map { String($0.dropFirst(4)) }
  }

  func loseAll(at place: HarnessPlace) async throws -> Bool {
    try await server.ask("DELETE", server.url(place.name)).status < 300
  }

  func setCredentials(areValid: Bool) throws -> Bool {
    try server.setPassword(areValid ? "s3cret" : "other")
    return true
  }
}
