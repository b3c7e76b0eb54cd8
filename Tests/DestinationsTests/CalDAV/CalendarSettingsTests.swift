import Foundation
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite struct CalendarSettingsTests {
  private let home: DestinationHome

  init() throws { home = try DestinationHome() }

  @Test(
    "settings that make no sense together are refused",
    arguments: [
      ("password", ["username": .text("ada")]), ("username", ["password": .text("env:P")]),
      ("username", ["username": .text("a:b"), "password": .text("env:P")]),
      ("milestones", ["milestones": .table(["steps": "10000"])]),
      ("milestones", ["milestones": .table(["stepCount": "many"])]),
      ("milestones", ["milestones": .table(["stepCount": "-1"])]),
      ("milestones", ["milestones": .table(["stepCount": "inf"])]),
      ("milestones", ["milestones": .table(["stepCount": "10 km"])]),
      ("milestones", ["milestones": .table(["heartRate": "180"])]),
      ("milestones", ["milestones": .table(["stepCount": "1", "HKQuantityTypeIdentifierStepCount": "2"])]),
    ] as [(String, [String: DestinationSettings.Value])])
  func settings(_ key: String, _ values: [String: DestinationSettings.Value]) throws {
    let error = #expect(throws: SettingsError.self) {
      try home.make(
        CalDAVDestination.self, values.merging(["url": .text("https://example.org/")]) { first, _ in first },
        secrets: ["P": "s3cret"])
    }
    #expect(error?.key == key)
  }

  @Test("a page that is answered to an event is not taken for a calendar", .timeLimit(.minutes(5)))
  func page() async throws {
    let endpoint = try RawEndpoint { $0.answer(200, ["Content-Type": "text/html"], "<html>Log in</html>") }
    let destination = try home.make(CalDAVDestination.self, ["url": .text(endpoint.url)])
    let error = await #expect(throws: DeliveryError.self) { try await destination.check() }
    #expect(error == .unusable(reason: "it answers 200, as no calendar does: is url right?"))
    await destination.close()
  }

  @Test(
    "what servers answer to an event that they have written is taken for that", .timeLimit(.minutes(5)),
    arguments: [(200, ""), (201, ""), (201, "<html>Created</html>"), (204, "")])
  func written(_ status: Int, _ body: String) async throws {
    let endpoint = try RawEndpoint { $0.answer(status, ["Content-Type": "text/html; charset=UTF-8"], body) }
    let destination = try home.make(CalDAVDestination.self, ["url": .text(endpoint.url)])
    try await destination.check()
    #expect(endpoint.requests.count == 2)
    await destination.close()
  }

  @Test(
    "names are what is behind the last slash of an address, whatever else a server says",
    arguments: [
      ("<multistatus xmlns=\"DAV:\"><response><href>/a/hpeer-1.ics</href></response></multistatus>", ["hpeer-1.ics"]),
      (
        "<D:href>http://other.example/x/hpeer-1.ics</D:href><D:href >\n hpeer%2D2.ics\n</D:href>",
        ["hpeer-1.ics", "hpeer-2.ics"]
      ),
      ("<href>/a/</href><href/><href></href><thref>/a/b</thref><D:hrefs>/a/b</D:hrefs>", []),
      ("<href>/a/..</href>", [".."]), ("<href>/a/hpeer-%zz.ics</href>", []), ("<href", []), ("<href>/a/b", ["b"]),
      ("", []),
    ]) func names(_ text: String, _ names: [String])
  {
    #expect(MultistatusNames.names(in: Array(text.utf8)) == names)
  }

  @Test("any bytes are a list of names or none")
  func random() {
    var generator = SystemRandomNumberGenerator()
    let pieces = ["<", ">", "/", "href", "D:", "%2F", "%00", "\u{0}", "hpeer-", ".ics", " ", "é"]
    for _ in 0..<2_000 {
      let text = (0..<20).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      _ = MultistatusNames.names(in: Array(text.utf8))
      _ = MultistatusNames.names(in: (0..<40).map { _ in UInt8.random(in: 0...255) })
    }
  }
}
