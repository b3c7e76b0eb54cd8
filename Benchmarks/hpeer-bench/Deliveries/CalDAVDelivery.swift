import Foundation
import HealthModel
import OperatingSystem
import TestSupport

/// A benchmark of the destination `caldav` with a Radicale server, compared with curl, which puts the same events
/// into the calendar of a second server.
struct CalDAVDelivery {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private static let (user, password) = ("ada", "s3cret")
  private static let calendar = "\(user)/health"

  func measure() async throws -> Row {
    guard let radicale = OtherProgram.find("radicale"), let curl = OtherProgram.find("curl") else {
      return Row(.caldav, skipped: "radicale and curl are not both installed")
    }
    var comparison = DeliveryComparison()
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let (place, copy) = (bench.workspace.fresh("place"), bench.workspace.fresh("copy"))
      let key = bench.workspace.fresh("key")
      try PrivateFile.create(key, Array(Self.password.utf8))
      let (first, port) = try await serve(radicale, place)
      let delivery = try await TimedDelivery(
        bench,
        [
          "kind = \"caldav\"", "url = \"http://127.0.0.1:\(port)/\(Self.calendar)/\"", "username = \"\(Self.user)\"",
          "password = \"file:\(key)\"",
        ], count: TimedDelivery.few(bench), of: Self.workout)
      try await first.stop(SIGKILL)
      let events = try events(in: place)
      let (second, other) = try await serve(radicale, copy)
      let byHand = try await Program(path: curl).run(
        ["--config", "-"], home: nil, input: requests(events, "http://127.0.0.1:\(other)/\(Self.calendar)/"),
        in: bench.workspace)
      try await second.stop(SIGKILL)
      let names = events.map { URL(fileURLWithPath: $0).lastPathComponent }
      guard try self.events(in: copy).map({ URL(fileURLWithPath: $0).lastPathComponent }) == names else {
        throw BenchFailure("curl has not written all events.")
      }
      let bytes = try events.reduce(0) { sum, path in
        sum + (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
      }
      if round >= bench.sizes.warmUps { comparison.add(delivery, floor: (byHand.seconds, bytes)) }
      for path in [place, copy, key, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(.caldav, byHand: "curl")
  }

  /// Returns a run of half an hour. Runs are an hour apart.
  private static func workout(_ maker: inout SampleMaker, _ number: Int) -> Sample {
    let start = Timestamp(seconds: 1_718_447_400 + Int64(number) * 3_600)
    return Sample(
      uuid: maker.uuid(), type: .workout, start: start, end: Timestamp(seconds: start.seconds + 1_800),
      source: Source(name: "Watch"), payload: .workout(Workout(activityType: .value(37), duration: 1_800)))
  }

  /// - Parameter folder: The directory for the server's settings and collections.
  private func serve(_ radicale: String, _ folder: String) async throws -> (service: Service, port: Int) {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try Data("\(Self.user):\(Self.password)\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/users"))
    let settings = """
      [server]
      hosts = 127.0.0.1:0
      [auth]
      type = htpasswd
      htpasswd_filename = \(folder)/users
      htpasswd_encryption = plain
      delay = 0
      [storage]
      filesystem_folder = \(folder)/collections

      """
    try Data(settings.utf8).write(to: URL(fileURLWithPath: "\(folder)/config"))
    return try await OtherProgram.start(
      radicale, ["-C", "\(folder)/config", "--logging-level", "info"], #/Listening on '\[127\.0\.0\.1\]:(\d+)/#, bench)
  }

  /// Returns the paths of a server's events, in order.
  private func events(in folder: String) throws -> [String] {
    let calendar = "\(folder)/collections/collection-root/\(Self.calendar)"
    return try FileManager.default.contentsOfDirectory(atPath: calendar).filter { $0.hasSuffix(".ics") }.sorted()
      .map { "\(calendar)/\($0)" }
  }

  /// Returns a configuration for curl(1) that creates the calendar and then its events.
  private func requests(_ events: [String], _ url: String) -> String {
    let common = "user = \"\(Self.user):\(Self.password)\"\noutput = \"/dev/null\"\nsilent\n"
    let requests =
      ["url = \"\(url)\"\nrequest = \"MKCALENDAR\"\n"]
      + events.map { "url = \"\(url)\(URL(fileURLWithPath: $0).lastPathComponent)\"\nupload-file = \"\($0)\"\n" }
    return requests.map { $0 + common }.joined(separator: "next\n")
  }
}
