import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PhoneApps
import Testing

@testable import PeerClient

@Suite("Types that an app cannot send")
struct FailingTypeTests {
  private static let weights = (0..<50).map {
    PhoneSample(type: "weight", start: 1_770_000_000 + Double($0) * 86_400, value: 80, unit: "kg")
  }
  private static let masses = weights.map { weight in
    var mass = weight
    mass.type = "bodyMass"
    return mass
  }

  @Test(
    "the others come all the same, it is said which did not, and the next pull has them",
    arguments: [PhoneFault.status(500), .status(413), .status(404), .undecodable, .deep, .heavy])
  func healthAppTransfer(_ fault: PhoneFault) async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(2_500) + Self.masses)
      phone.add(
        (0..<10).map { PhoneSample(type: "stepCount", start: 1_770_000_000 + Double($0), value: 3, unit: "count") })
      phone.app.state.withLock { $0.faults = ["bodyMass": fault, "heartRate": fault] }
      #expect(try await phone.pull().added == 10)
      let failing = try #require(try await phone.coverage).failing
      #expect(failing.map(\.type.shortName).sorted() == ["bodyMass", "heartRate"])
      #expect(failing.allSatisfy { !$0.isComplete && $0.problem?.isEmpty == false })
      phone.app.state.withLock { $0.faults = [:] }
      #expect(try await phone.pull().added == 2_550)
      #expect(try await phone.coverage?.failing == [])
    }
  }

  @Test(
    "of HealthSync, too", arguments: [PhoneFault.status(500), .status(413), .undecodable, .deep, .heavy])
  func healthSync(_ fault: PhoneFault) async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(2_500) + Self.weights)
      phone.app.state.withLock { $0.faults = ["heartRate": fault] }
      #expect(try await phone.pull().added == 50)
      #expect(try await phone.coverage?.failing.map(\.type.shortName) == ["heartRate"])
      phone.app.state.withLock { $0.faults = [:] }
      #expect(try await phone.pull().added == 2_500)
      #expect(try await phone.coverage?.failing == [])
    }
  }

  @Test(
    "a comparison goes on with the others, and says which was not compared, and why",
    arguments: [PhoneFault.status(500), .undecodable, .saysMore])
  func comparing(_ fault: PhoneFault) async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(2_500) + Self.masses)
      phone.app.state.withLock { $0.faults = ["bodyMass": fault] }
      let verification = try await phone.verify()
      #expect(verification.unread.map(\.type.shortName) == ["bodyMass"])
      #expect(verification.unread.allSatisfy { $0.reason.hasPrefix("it answered ") })
      #expect(!verification.isEqual)
      let rates = verification.differences.filter { $0.type.shortName == "heartRate" }
      #expect(rates.reduce(0) { $0 + $1.there.samples.count } == 2_500)
      try await phone.pull()
      #expect(try await phone.verify().isEqual == false)
      phone.app.state.withLock { $0.faults = [:] }
      try await phone.pull()
      #expect(try await phone.verify().isEqual)
    }
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(2_500) + Self.weights)
      phone.app.state.withLock { $0.faults = ["heartRate": fault] }
      let verification = try await phone.verify()
      #expect(verification.unread.map(\.type.shortName) == ["heartRate"])
      #expect(verification.differences.contains { $0.type.shortName == "bodyMass" })
    }
  }

  @Test("one that fails in the middle keeps what came of it, and goes on there")
  func middle() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store) { state in
        let asked = state.requests.count { $0.contains("type=heartRate") }
        state.faults = asked == 3 ? ["heartRate": .status(500)] : [:]
      }
      phone.add(PhoneSample.heartRates(6_000) + Self.masses)
      #expect(try await (2_000...4_000).contains(phone.pull().added))
      #expect(try await phone.coverage?.failing.map(\.type.shortName) == ["heartRate"])
      try await phone.pull()
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.coverage?.failing == [])
    }
  }

  @Test("a first pull that brings nothing says why, though it is none that the next goes on from")
  func nothing() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      let empty = try await phone.pull()
      #expect(try await Pull.coverage(of: phone.server, after: empty, in: store)?.listsNothing == true)
      phone.add(Self.masses)
      phone.app.state.withLock { $0.faults = ["bodyMass": .status(500)] }
      let refused = try await phone.pull()
      let coverage = try await Pull.coverage(of: phone.server, after: refused, in: store)
      #expect(coverage?.failing.map(\.type.shortName) == ["bodyMass"])
      #expect(try await phone.coverage == nil)
      phone.app.state.withLock { $0.faults = [:] }
      let whole = try await phone.pull()
      #expect(whole.added == Self.masses.count)
      #expect(try await Pull.coverage(of: phone.server, after: whole, in: store)?.failing == [])
    }
  }

  @Test("a row that the app cannot send costs neither its page nor its type, and many of them do")
  func unsendable() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      var rates = PhoneSample.heartRates(3_000)
      for index in [0, 1_500, 1_501] { rates[index].value = index == 0 ? .nan : .infinity }
      phone.add(rates)
      #expect(try await phone.pull().added == 2_997)
      let entry = try #require(try await phone.coverage?.entries.first)
      #expect(entry.problem == nil && entry.unreadable >= 3)
      phone.add((0..<5).map { .heartRate(.nan, at: 1_780_000_001 + Double($0)) } + Self.masses)
      #expect(try await phone.pull().added == 50)
      #expect(try await phone.coverage?.failing.map(\.type.shortName) == ["heartRate"])
    }
  }

  @Test("the oldest row, too, which has not everything read again each day")
  func oldestUnsendable() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      var rates = PhoneSample.heartRates(3_000)
      rates[2_999].value = .nan
      phone.add(rates)
      #expect(try await phone.pull().added == 2_999)
      let entry = try #require(try await phone.coverage?.entries.first)
      #expect(entry.isComplete && entry.unreadable == 1)
      phone.network.clock.advance(by: .seconds(31 * 3_600))
      #expect(try await phone.counted().requests <= 8)
      #expect(try await phone.coverage?.entries.first?.isComplete == true)
    }
  }

  @Test(
    "where it is among the newest is remembered, so that a look costs one request, and two with news",
    arguments: [0, 5, 700], [3_000, 800])
  func remembered(_ index: Int, _ count: Int) async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      var rates = PhoneSample.heartRates(count)
      rates[index].value = .nan
      phone.add(rates)
      #expect(try await phone.pull().added == count - 1)
      // Beside the list of types.
      #expect(try await phone.counted() == Counted(added: 0, requests: 2))
      phone.add([PhoneSample.heartRate(61, at: 1_780_000_010)])
      let first = try await phone.counted()
      #expect(first.added == 1 && (index == 0 || first.requests == 3))
      // More than there are rows before it, where it is one of the first.
      phone.add((0..<30).map { .heartRate(62, at: 1_780_000_020 + Double($0)) })
      #expect(try await phone.counted().added == 30)
      #expect(try await phone.counted() == Counted(added: 0, requests: 2))
      phone.add((0..<20).map { .heartRate(63, at: 1_780_000_060 + Double($0)) })
      #expect(try await phone.counted() == Counted(added: 20, requests: 3))
      // One that goes is noticed, and the rows beside it are known as before.
      phone.app.state.withLock { $0.remove([rates[index].id]) }
      phone.add([PhoneSample.heartRate(64, at: 1_780_000_100)])
      #expect(try await phone.counted().added == 1)
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.counted().requests == 2)
    }
  }

  @Test(
    "nor any of its second, whose rows come in another order with each answer", arguments: [2, 3, 7, 40, 300],
    1...6 as ClosedRange<UInt64>)
  func unsendableAmongEqual(_ rowsOfSecond: Int, _ seed: UInt64) async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store, seed: seed)
      let rates = (0..<2_000).map { index in
        PhoneSample.heartRate(
          index == 700 + 13 * Int(seed) ? .nan : 60, at: 1_780_000_000 - Double(index / rowsOfSecond))
      }
      phone.add(rates)
      #expect(try await phone.pull().added == 1_999)
      #expect(try await phone.coverage?.entries.first?.unreadable == 1)
    }
  }

  @Test("nor others, where the app gives fewer rows than it is asked for")
  func unsendableInSmallPages() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.app.state.withLock { $0.mostRows = 120 }
      var rates = PhoneSample.heartRates(1_000)
      rates[300].value = .nan
      phone.add(rates)
      #expect(try await phone.pull().added == 999)
    }
  }

  @Test(
    "what a page says that it could have is believed where it can be",
    arguments: [
      ("", 1_000), (#""limit":null,"#, 1_000), (#""limit":0,"#, 1_000), (#""limit":-5,"#, 1_000),
      (#""limit":1e300,"#, 1_000), (#""limit":"7","#, 1_000), (#""limit":5000,"#, 1_000), (#""limit":1,"#, 2),
      (#""limit":120,"#, 120),
    ])
  func pageLimit(_ field: String, _ limit: Int) throws {
    let type = try #require(HealthAppTransferRequest.AppType("heartRate"))
    let body = #"{"success":true,"data":{\#(field)"hasMore":true,"samples":[{},{}]}}"#
    #expect(try HealthAppTransferPage(Array(body.utf8), type: type).limit == limit)
  }

  @Test("metadata, which are JSON in texts, are weighed together before any of a page are read")
  func nested() throws {
    let type = try #require(HealthAppTransferRequest.AppType("heartRate"))
    func page(members: Int) throws -> HealthAppTransferPage {
      let metadata = (0..<members).map { #"\"\#($0)\":1"# }.joined(separator: ",")
      let rows = (0..<1_000).map { _ in
        #"{"id":"\#(UUID().uuidString)","type":"heartRate","value":60,"unit":"count\/min","sourceName":"Watch","#
          + #""startDate":"2026-01-01T00:00:00Z","endDate":"2026-01-01T00:00:00Z","metadataJSON":"{\#(metadata)}"}"#
      }
      let body = #"{"success":true,"data":{"hasMore":false,"samples":[\#(rows.joined(separator: ","))]}}"#
      return try HealthAppTransferPage(Array(body.utf8), type: type)
    }
    let rows = try page(members: 20).rows
    #expect(rows.count == 1_000)
    #expect(rows.allSatisfy { $0.sample.metadata.count == 20 })
    #expect(throws: PhoneBody.Excess.self) { try page(members: 100) }
  }

  /// An app that has a new row in the same second for each request.
  private struct TricklingApp: PhoneApp {
    func react(to bytes: [UInt8]) -> PhoneReaction {
      let body =
        String(decoding: bytes, as: UTF8.self).hasPrefix("GET ")
        ? #"{"enabledTypes":["heartRate"]}"#
        : #"{"status":"ok","hasMore":true,"samples":[{"id":"\#(UUID().uuidString)","type":"heartRate","value":60,"#
          + #""unit":"count\/min","startDate":"2026-01-01T00:00:00Z","endDate":"2026-01-01T00:00:00Z","#
          + #""sourceName":"Watch"}]}"#
      return .answer(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
    }
  }

  @Test("a second that comes a row at a time, at sixty requests a minute, does not take hours")
  func trickling() async throws {
    try await withStore { store in
      let phone = try PhoneFixture(TricklingApp(), dialect: "HealthSync", token: "token", store: store)
      try await phone.pull()
      #expect(try await phone.coverage?.failing.map(\.type.shortName) == ["heartRate"])
      #expect(phone.network.state.withLock(\.requests) < 250)
    }
  }

  @Test("lists that never end are left, and the others come", arguments: [PhoneFault.repeats, .saysMore])
  func endless(_ fault: PhoneFault) async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(2_500) + Self.masses)
      phone.app.state.withLock { $0.faults = ["heartRate": fault, "bodyMass": fault] }
      phone.add(
        (0..<10).map { PhoneSample(type: "stepCount", start: 1_770_000_000 + Double($0), value: 3, unit: "count") })
      try await phone.pull()
      #expect(try await phone.coverage?.failing.map(\.type.shortName).sorted() == ["bodyMass", "heartRate"])
      #expect(phone.network.state.withLock(\.requests) < 1_000)
      #expect(try await store.samples.typeCounts().contains { $0.type.shortName == "stepCount" })
    }
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(12_500) + Self.weights)
      phone.app.state.withLock { $0.faults = ["heartRate": fault] }
      try await phone.pull()
      #expect(try await phone.coverage?.failing.map(\.type.shortName) == ["heartRate"])
      #expect(phone.network.state.withLock(\.requests) < 1_000)
      #expect(try await store.samples.typeCounts().contains { $0.type.shortName == "bodyMass" })
    }
  }
}
