import Foundation
import TestSupport

@testable import Destinations

/// A real CalDAV server with the user ada and the password s3cret.
struct RadicaleServer {
  static let isHere = FileManager.default.isExecutableFile(atPath: "/usr/bin/radicale")
  static let missing = "radicale is not installed (scripts/setup --tests)"
  private static let judge = PythonEnvironment("caldav")
  static let canJudge = isHere && judge.folder != nil

  private let folder: TemporaryDirectory
  private let process: ServerProcess

  init() throws {
    folder = try TemporaryDirectory(inMemory: true)
    try Data("ada:s3cret\n".utf8).write(to: URL(filePath: folder.path("users")))
    try Data(
      """
      [server]
      hosts = 127.0.0.1:0
      [auth]
      type = htpasswd
      htpasswd_filename = \(folder.path("users"))
      htpasswd_encryption = plain
      delay = 0
      [storage]
      filesystem_folder = \(folder.path("collections"))

      """.utf8
    ).write(to: URL(filePath: folder.path("config")))
    process = try ServerProcess(
      "/usr/bin/radicale", ["-C", folder.path("config"), "--logging-level", "info"], until: "Listening on '[127.0.0.1]:"
    )
  }

  var port: Int { process.port }

  /// Changes ada's password.
  func setPassword(_ password: String) throws {
    try Data("ada:\(password)\n".utf8).write(to: URL(filePath: folder.path("users")))
  }

  func url(_ calendar: String) -> String { "http://127.0.0.1:\(process.port)/ada/\(calendar)/" }

  /// An event as parsed by icalendar.
  struct Event: Decodable, Hashable {
    var uid: String
    var summary: String
    /// The start in ISO 8601: a date, or an instant in UTC.
    var start: String
    var end: String?
    var description: String
  }

  /// Returns the events of a calendar. Throws if icalendar finds an error.
  func events(_ calendar: String) async throws -> [Event] {
    let response = try await ask("GET", url(calendar))
    guard response.status == 200 else { return [] }
    try Data(response.body).write(to: URL(filePath: folder.path("calendar.ics")))
    let script = """
      import json, sys
      from icalendar import Calendar
      calendar = Calendar.from_ical(open(sys.argv[1], "rb").read())
      def text(event, key):
          return event.decoded(key).isoformat() if key in event else None
      events = [dict(uid=str(e["UID"]), summary=str(e["SUMMARY"]), start=text(e, "DTSTART"), end=text(e, "DTEND"),
                     description=str(e.get("DESCRIPTION", ""))) for e in calendar.walk("VEVENT")]
      assert not any(e.errors for e in calendar.walk()), [e.errors for e in calendar.walk()]
      print(json.dumps(events))
      """
    let said = try output(of: Self.judge.program("python") ?? "", ["-c", script, folder.path("calendar.ics")])
    guard said.status == 0 else { throw ServerProcess.Failure(description: said.text) }
    return try JSONDecoder().decode([Event].self, from: Data(said.text.utf8)).sorted { $0.start < $1.start }
  }

  @discardableResult
  func ask(
    _ method: String, _ url: String, _ headers: [(name: String, value: String)] = [], _ body: String? = nil
  ) async throws -> HTTPService.Response {
    let service = try HTTPServiceTests.service(url)
    let response = try await service.answer(
      to: HTTPService.Request(
        method, url, headers: [HTTPHeaderText.basic("ada", "s3cret")] + headers, body: body.map { Array($0.utf8) }))
    await service.close()
    return response
  }
}
