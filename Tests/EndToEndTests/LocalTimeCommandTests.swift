import Foundation
import HealthModel
import HealthStore
import Testing

/// Tests of times that people type and read: local times without a zone, and times with their offset.
@Suite(.timeLimit(.minutes(5)))
struct LocalTimeCommandTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var home: Host { scratch.host("home") }
  private let berlin = ["TZ": "Europe/Berlin"]

  /// Adds heart rates at these instants. Each value is the index, starting at 1.
  private func fill(_ instants: String...) async throws {
    let store = try HealthStore(directory: home.home)
    let samples = try instants.enumerated().map { index, text in
      let start = try #require(Timestamp(iso8601: text))
      return Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: start, end: start,
        source: Source(name: "Watch"), payload: .quantity(Quantity(Double(index + 1), "count/min")))
    }
    try await store.apply(ChangeBatch(additions: samples))
  }

  private func show(_ arguments: String..., environment: [String: String]) async throws -> [String] {
    let outcome = try await home.start(["show", "heartRate"] + arguments, environment: environment).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test("a time means the same as a date: local, unless it says otherwise; and so it is printed")
  func local() async throws {
    try await fill(
      "2019-01-04T23:30:00Z", "2019-01-05T08:59:59.999999Z", "2019-01-05T09:00:00.000250Z", "2019-01-05T10:00:00Z",
      "2019-01-05T23:00:00Z")
    let day = try await show("--from", "2019-01-05", "--to", "2019-01-05", environment: berlin)
    #expect(
      day.map { $0.prefix { $0 != " " } } == [
        "2019-01-05T11:00:00+01:00", "2019-01-05T10:00:00.000250+01:00", "2019-01-05T09:59:59.999999+01:00",
        "2019-01-05T00:30:00+01:00",
      ])
    #expect(try await show("--on", "2019-01-05", environment: berlin) == day)
    for wrong in [["--on", "2019-01-05", "--to", "2019-01-06"], ["--on", "2019-01-05T10:00"], ["--on", "never"]] {
      #expect(try await home.start(["show", "heartRate"] + wrong, environment: berlin).outcome().status == 2)
    }
    let from = try await show("--from", "2019-01-05T10:00", "--to", "2019-01-05T11:00", environment: berlin)
    #expect(from.count == 1 && from[0].hasPrefix("2019-01-05T10:00:00.000250+01:00"), "\(from)")
    // With its zone it is taken as it is, wherever that is.
    let exact = ["--from", "2019-01-05T09:00:00.00025Z", "--to", "2019-01-05T05:30:00-04:30"]
    #expect(try await show(exact[0], exact[1], exact[2], exact[3], environment: berlin) == from)
    #expect(try await show(exact[0], exact[1], exact[2], exact[3], environment: ["TZ": "UTC"]).count == 1)
    let utc = try await show("--utc", "--from", "2019-01-05T09:00", "--to", "2019-01-05T10:00", environment: berlin)
    #expect(utc.count == 1 && utc[0].hasPrefix("2019-01-05T09:00:00.000250Z"), "\(utc)")
    for (zone, start) in [("-04:30", "2019-01-05T18:30:00-04:30"), ("America/Caracas", "2019-01-05T19:00:00-04:00")] {
      let there = try await show("--zone", zone, "--from", "2019-01-05", "--limit", "1", environment: berlin)
      #expect(there.first?.hasPrefix(start) == true, "\(there)")
    }
    // The older names of the options.
    #expect(
      try await show("--since", "2019-01-05T10:00", "--until", "2019-01-05T11:00", environment: berlin) == from)
  }

  @Test("JSON has UTC, whatever the zone")
  func json() async throws {
    try await fill("2019-01-05T09:00:00.000250Z")
    let lines = try await show("--json", "--zone", "Asia/Kolkata", environment: berlin)
    #expect(lines.first?.contains(#""start":"2019-01-05T09:00:00.000250Z""#) == true, "\(lines)")
    let types = try await home.run("types", "--json", "--zone", "Asia/Kolkata")
    #expect(types.output.contains(#""first":"2019-01-05T09:00:00.000250Z""#))
  }

  @Test("the day on which clocks are put back is all of its 25 hours; an hour that was twice is not deleted by halves")
  func overlap() async throws {
    // 02:15 twice, and 02:45 twice.
    try await fill(
      "2024-10-27T00:15:00Z", "2024-10-27T00:45:00Z", "2024-10-27T01:15:00Z", "2024-10-27T01:45:00Z",
      "2024-10-26T22:00:00Z", "2024-10-27T22:59:59Z", "2024-10-27T23:00:00Z")
    #expect(try await show("--from", "2024-10-27", "--to", "2024-10-27", environment: berlin).count == 6)
    #expect(
      try await show("--from", "2024-10-27T02:00", "--to", "2024-10-27T03:00", environment: berlin).count == 4)
    let doubtful = [
      "delete", "--types", "heartRate", "--from", "2024-10-27T02:30", "--to", "2024-10-27T04:00", "--yes",
    ]
    let refused = try await home.start(doubtful, environment: berlin).outcome()
    #expect(refused.status == 2)
    #expect(refused.errors.contains("2024-10-27T02:30:00+02:00 or 2024-10-27T02:30:00+01:00"), "\(refused.errors)")
    #expect(try await home.sampleCount() == 7)
    let back = ["undelete"] + doubtful.dropFirst() + [scratch.path + "/none.json"]
    let doubted = try await home.start(back, environment: berlin).outcome()
    #expect(doubted.status == 2)
    #expect(doubted.errors.contains("2024-10-27T02:30:00+02:00 or 2024-10-27T02:30:00+01:00"), "\(doubted.errors)")
    let exact = doubtful.map { $0 == "2024-10-27T02:30" ? "2024-10-27T02:30:00+01:00" : $0 }
    #expect(try await home.start(exact, environment: berlin).outcome().output.hasPrefix("1 sample of heartRate"))
  }

  @Test("deleting a local hour deletes that hour")
  func deleting() async throws {
    try await fill(
      "2019-01-05T08:59:59.999999Z", "2019-01-05T09:00:00Z", "2019-01-05T09:59:59Z", "2019-01-05T10:00:00Z")
    let outcome = try await home.start(
      ["delete", "--types", "heartRate,stepCount", "--from", "2019-01-05T10:00", "--to", "2019-01-05T11:00", "--yes"],
      environment: berlin
    ).outcome()
    #expect(outcome.output == "2 samples of heartRate deleted\n", "\(outcome.errors)")
    #expect(
      try await home.contents().keys.map(\.start.iso8601).sorted()
        == ["2019-01-05T08:59:59.999999Z", "2019-01-05T10:00:00Z"])
    for arguments in [["--from", "2019-01-01", "--to", "2019-01-05"], ["--from", "2019-01-01"]] {
      #expect(try await home.start(["delete", "--yes"] + arguments).outcome().status == 2)
    }
  }

  @Test("types, audit and peers print local times; what a machine may read begins with the local day")
  func others() async throws {
    try await fill("2019-01-05T23:30:00Z", "2019-07-05T21:59:59Z")
    #expect(try await home.run("types", environment: berlin).output.contains("2019-01-06  2019-07-05"))
    #expect(try await home.run("types", "--utc", environment: berlin).output.contains("2019-01-05  2019-07-05"))
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise", "--name", "studio"])
    let (code, _) = try await home.openWindow(["--from", "2019-07-05T23:59:59.5+02:00", "--type", "heartRate"])
    let client = scratch.host("client")
    #expect(try await client.run("pull", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    #expect(try await client.sampleCount() == 0)
    let peers = try await home.run("peers", environment: berlin).output
    #expect(peers.contains("heartRate from 2019-07-05T23:59:59.500000+02:00 on"), "\(peers)")
    let name = try #require(peers.split(separator: "\n").last?.split(separator: " ").first)
    let set = try await home.run("peers", "set", String(name), "--from", "2019-07-05", environment: berlin)
    #expect(set.errors.contains("heartRate from 2019-07-05 on"), "\(set.errors)")
    #expect(try await home.run("peers", "--utc").output.contains("from 2019-07-04T22:00:00Z on"))
    let pulled = try await client.run("pull")
    #expect(pulled.status == 0, "\(pulled.errors)")
    #expect(try await client.sampleCount() == 1)
    let audit = try await home.run("audit", "--zone", "+05:30")
    #expect(audit.output.split(separator: "\n").allSatisfy { $0.contains(#/^\d{4}-\d\d-\d\dT[\d:]{8}\+05:30 /#) })
    #expect(try await home.run("audit", "--from", "2019-01-01", "--to", "2019-12-31").output.isEmpty)
  }

  @Test("an export takes the same selection")
  func exporting() async throws {
    try await fill("2019-01-04T22:59:59Z", "2019-01-04T23:00:00Z", "2019-01-05T22:59:59Z", "2019-01-05T23:00:00Z")
    let selection = ["--types", "stepCount", "--types", "heartRate", "--from", "2019-01-05", "--to", "2019-01-05"]
    let outcome = try await home.start(["export", "--format", "csv"] + selection, environment: berlin).outcome()
    #expect(outcome.output.split(separator: "\r\n").count == 3, "\(outcome.output)")
  }

  @Test(
    "a zone or a time that is none is a mistake",
    arguments: [
      ["--zone", "Europe/Nowhere"], ["--zone", "CEST"], ["--zone", "+25:00"], ["--zone", ""],
      ["--zone", "+01:00", "--utc"], ["--from", "2019-02-29"], ["--from", "2019-01-02", "--to", "2019-01-01"],
      ["--from", "2019-01-01", "--since", "2019-01-01"],
    ])
  func mistakes(_ arguments: [String]) async throws {
    try await fill("2019-01-05T09:00:00Z")
    let outcome = try await home.start(["show", "heartRate"] + arguments).outcome()
    #expect(outcome.status == 2, "\(outcome.output)\(outcome.errors)")
  }
}
