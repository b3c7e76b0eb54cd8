import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import PeerProtocol
import PhoneApps
import TestSupport
import Testing

@testable import PeerClient

@Suite("Pulling from HealthAppTransfer")
struct HealthAppTransferPullTests {
  @Test("everything comes, once, in as many requests as it has pages; and what is vouched for is said")
  func everything() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(10_000, every: 7))
      phone.add(
        (0..<50).map {
          PhoneSample(type: "bodyMass", start: 1_770_000_000 + Double($0) * 86_400, value: 80, unit: "kg")
        })
      let first = try await phone.counted()
      #expect(first.added == 10_050)
      // Eleven pages, the list of types, and a second look at the newest rows, their number and three places between.
      #expect(first.requests <= 17)
      #expect(try await Set(phone.uuids()) == phone.held)
      let coverage = try #require(try await phone.coverage)
      #expect(coverage.entries.map(\.isComplete) == [true, true])
      #expect(coverage.largest?.type == SampleType("HKQuantityTypeIdentifierHeartRate"))
      #expect(coverage.largest?.since == Timestamp(seconds: 1_780_000_000 - 7 * 9_999))
      // A type with many rows and no news costs one request, and one with few, too.
      #expect(try await phone.counted() == Counted(added: 0, requests: 3))
      phone.add(PhoneSample.heartRates(300, every: 1, before: 1_780_000_400))
      #expect(try await phone.counted() == Counted(added: 300, requests: 4))
      #expect(try await phone.verify().isEqual)
    }
  }

  @Test("what is missing here is counted once by a comparison during which something arrives")
  func comparedWhileItMoves() async throws {
    try await withStore { store in
      let arrival = NIOLockedValueBox(Int.max)
      let phone = try PhoneFixture.healthAppTransfer(into: store) { state in
        guard state.requests.count == arrival.withLockedValue(\.self) else { return }
        state.add([.heartRate(61, at: 1_780_000_200)])
      }
      phone.add(PhoneSample.heartRates(4_500, every: 60))
      try await phone.pull()
      phone.add([.heartRate(99, at: 1_780_000_100)])
      // Of five pages, before the third; the types are asked for first.
      let asked = phone.app.state.withLock(\.requests.count)
      arrival.withLockedValue { $0 = asked + 3 }
      let verification = try await phone.verify()
      #expect(phone.app.state.withLock { $0.samples["heartRate"]?.count } == 4_502)
      #expect(verification.differences.count == 1)
      let difference = try #require(verification.differences.first)
      #expect(difference.there.samples.count - difference.here.samples.count == 2)
    }
  }

  @Test("many rows of one second, in another order at each request, and a list that moves")
  func ties() async throws {
    // What happens at which request of a pull is another each time.
    for phase in 0..<12 {
      try await withStore { store in
        let phone = try PhoneFixture.healthAppTransfer(into: store, seed: UInt64(1 + phase % 3)) { state in
          let count = state.requests.count + phase
          let start = 1_780_000_000 + Double(count)
          if count % 3 == 1 { state.add([.heartRate(1, at: start), .heartRate(2, at: start)]) }
          if count % 4 == 2, let gone = state.samples["heartRate"]?.first { state.remove([gone.id]) }
        }
        phone.add((0..<6_000).map { .heartRate(60, at: 1_780_000_000 - Double($0 / 40) * 5 + Double($0 % 40) / 50) })
        let before = phone.held
        try await phone.pull()
        // What was there all the time.
        #expect(try await before.intersection(phone.held).isSubset(of: phone.uuids()))
        try await phone.pull(full: true)
        #expect(try await phone.held.isSubset(of: phone.uuids()))
      }
    }
  }

  @Test("put away in the middle, it goes on where it stopped, with what is new first")
  func interrupted() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(10_000))
      await #expect(throws: PeerError.self) { try await phone.pull(putAwayAfter: 5) }
      #expect(try await phone.uuids().count > 3_000)
      phone.add(PhoneSample.heartRates(1_500, every: 1, before: 1_780_003_000))
      #expect(try await phone.counted().requests <= 19)
      #expect(try await phone.uuids().count == 11_500)
      #expect(try await phone.coverage?.entries.first?.isComplete == true)
    }
  }

  @Test("what arrives late is found: within two weeks by the next pull, later by counting")
  func late() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(5_000, every: 600))
      try await phone.pull()
      phone.add([.heartRate(1, at: 1_779_950_000.5), .heartRate(2, at: 1_777_500_000.5)])
      #expect(try await phone.pull().added == 2)
      #expect(try await phone.uuids().count == 5_002)
    }
  }

  @Test("an addition and a deletion that leave the number as it is are found by a sweep")
  func compensated() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      let rates = PhoneSample.heartRates(5_000, every: 600)
      phone.add(rates)
      try await phone.pull()
      phone.app.state.withLock { $0.remove([rates[4_000].id]) }
      phone.add([.heartRate(1, at: rates[3_500].start + 0.5)])
      try await phone.pull()
      try await phone.pull(full: true)
      #expect(try await phone.held.isSubset(of: phone.uuids()))
    }
  }

  @Test("as many that come as go in what was read already, while the rest is read, are found")
  func compensatedWhileItReads() async throws {
    for seed in UInt64(1)...3 {
      try await withStore { store in
        let rates = PhoneSample.heartRates(30_000)
        // The types and so many pages have been asked for.
        let phone = try PhoneFixture.healthAppTransfer(into: store, seed: seed) { state in
          guard state.requests.count == 26 else { return }
          var random = SeededGenerator(seed: seed)
          let read = rates[..<22_000]
          state.remove(Set((0..<9).map { _ in random.pick(Array(read)).id }))
          let count = 30_000 - (state.samples["heartRate"]?.count ?? 0)
          state.add((0..<count).map { _ in .heartRate(1, at: random.pick(Array(read)).start + 0.5) })
        }
        phone.add(rates)
        try await phone.pull()
        #expect(phone.app.state.withLock { $0.samples["heartRate"]?.count } == 30_000)
        #expect(phone.held != Set(rates.map(\.id)))
        #expect(try await phone.held.isSubset(of: phone.uuids()), "seed \(seed)")
        #expect(try await phone.coverage?.entries.first?.isComplete == true)
      }
    }
  }

  @Test("a list that goes on changing while it is read is not vouched for")
  func changesWithoutEnd() async throws {
    try await withStore { store in
      let rates = PhoneSample.heartRates(30_000)
      let phone = try PhoneFixture.healthAppTransfer(into: store) { state in
        let count = state.requests.count
        guard count > 3, let old = state.samples["heartRate"] else { return }
        state.remove([old[count * 7_919 % old.count].id])
        state.add([.heartRate(1, at: rates[count * 6_007 % rates.count].start + 0.5)])
      }
      phone.add(rates)
      let progress = try await phone.counted()
      #expect(try await phone.coverage?.entries.first?.isComplete == false)
      // Everything twice, and what is asked in between.
      #expect(progress.requests < 150)
    }
  }

  @Test(
    "a newest second with more rows than a page is compared and pulled without an end in sight",
    arguments: [1_000, 1_400])
  func crowdedNewest(count: Int) async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(5_000))
      let newest = (0..<count).map { PhoneSample.heartRate(70, at: 1_780_000_100 + Double($0) / 2_000) }
      phone.add(newest)
      // Nothing is here.
      let difference = try #require(try await phone.verify().differences.first)
      #expect(difference.there.samples.count - difference.here.samples.count <= 5_000 + count)
      phone.app.state.withLock { $0.remove(Set(newest.map(\.id))) }
      try await phone.pull()
      phone.add(newest)
      let pulled = try await phone.counted()
      #expect(pulled.requests < 120)
      #expect(try await phone.held.isSubset(of: phone.uuids()))
    }
  }

  @Test("one that is put away before its numbers were compared is not vouched for")
  func putAwayBeforeTheEnd() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(10_000))
      await #expect(throws: PeerError.self) { try await phone.pull(putAwayAfter: 13) }
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.coverage?.entries.first?.isComplete == false)
    }
  }

  @Test("one far from the other is found by looking at a boundary between them, long before a sweep")
  func compensatedFarApart() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      let rates = PhoneSample.heartRates(6_000, every: 600)
      phone.add(rates)
      try await phone.pull()
      let swept = try await phone.coverage?.entries.first?.swept
      phone.app.state.withLock { $0.remove([rates[5_500].id]) }
      phone.add([.heartRate(1, at: rates[1_500].start + 0.5)])
      for _ in 0..<6 {
        phone.network.clock.advance(by: .seconds(31 * 3_600))
        try await phone.pull()
      }
      #expect(try await phone.held.isSubset(of: phone.uuids()))
      #expect(try await phone.coverage?.entries.first?.swept == swept)
    }
  }

  @Test("a row that nobody understands where two pages overlap does not have everything read again each day")
  func unreadableBetweenPages() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      var rates = PhoneSample.heartRates(3_000, every: 2)
      rates[999].value = nil
      phone.add(rates)
      try await phone.pull()
      var swept: Set<Timestamp> = []
      for _ in 0..<26 {
        phone.network.clock.advance(by: .seconds(25 * 3_600))
        try await phone.pull()
        let entry = try #require(try await phone.coverage?.entries.first)
        #expect(!entry.isComplete)
        if let time = entry.swept { swept.insert(time) }
      }
      #expect(swept.count <= 6, "\(swept.count)")
      #expect(try await phone.uuids().count == 2_999)
    }
  }

  @Test("how long until everything is read again grows with each time that the counts do not agree")
  func doubts() {
    let days = [0, 1, 2, 3, 4, 5, 6, 100, Int.max].map { HealthAppTransferReader.sweepAge(afterDoubts: $0) / 86_400 }
    #expect(days == [1, 1, 2, 4, 8, 16, 28, 28, 28])
  }

  @Test("a locked phone, a refused token and an empty list are told apart, and nothing is taken for gone")
  func refusals() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(10))
      try await phone.pull()
      phone.app.state.withLock { $0.isLocked = true }
      await #expect(throws: PeerError.phoneLocked(peer: "phone")) { try await phone.pull() }
      phone.app.state.withLock { ($0.isLocked, $0.listsNothing) = (false, true) }
      try await phone.pull()
      #expect(try await phone.coverage?.listsNothing == true)
      phone.app.state.withLock { ($0.listsNothing, $0.tokens) = (false, []) }
      await #expect(throws: PeerError.tokenRefused(peer: "phone")) { try await phone.pull() }
      #expect(try await phone.uuids().count == 10)
    }
  }

  @Test("one that locks itself in the middle of the first pull, and then has nothing, is not taken for read whole")
  func locksInTheMiddle() async throws {
    let isLocking = NIOLockedValueBox(true)
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store) { state in
        state.listsNothing = isLocking.withLockedValue { $0 } && state.requests.count >= 4
      }
      phone.add(PhoneSample.heartRates(10_000))
      try await phone.pull()
      #expect(try await (2_000...4_000).contains(phone.uuids().count))
      #expect(try await phone.coverage?.entries.first?.isComplete == false)
      isLocking.withLockedValue { $0 = false }
      #expect(try await phone.counted().requests <= 17)
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.coverage?.entries.first?.isComplete == true)
    }
  }

  @Test("one that is followed for long lists the same again and again, and that is no feed without an end")
  func followed() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(800))
      try await phone.follow(looks: 150)
      #expect(try await Set(phone.uuids()) == phone.held)
    }
  }

  @Test("dates as numbers, rows that it leaves out, and rows that nobody understands")
  func forms() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.app.state.withLock { $0.numericDates = true }
      var rates = PhoneSample.heartRates(3_000, every: 2)
      for index in stride(from: 0, to: 3_000, by: 10) { rates[index].isMappable = false }
      rates[5].value = nil
      phone.add(rates)
      #expect(try await phone.pull().added == 2_699)
      #expect(try await phone.pull().added == 0)
      let entry = try #require(try await phone.coverage?.entries.first)
      #expect(entry.unreadable == 1)
      #expect(entry.samples == 3_000)
    }
  }

  @Test("one that gives fewer rows than it is asked for, also where one second has more than it gives")
  func smallPages() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.app.state.withLock { $0.mostRows = 120 }
      phone.add(PhoneSample.heartRates(1_000))
      phone.add((0..<400).map { .heartRate(70, at: 1_779_980_000 + Double($0) / 500) })
      try await phone.pull()
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.coverage?.entries.first?.isComplete == true)
    }
  }

  @Test("types that end the app, or that nobody knows, are not asked for")
  func forbiddenTypes() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add([
        PhoneSample(type: "bloodType", start: 1), PhoneSample(type: "tomorrowsType", start: 1),
        .heartRate(60, at: 1_700_000_000),
      ])
      #expect(try await phone.pull().added == 1)
      #expect(phone.app.state.withLock { $0.crash } == nil)
      #expect(try await phone.coverage?.unknown == ["bloodType", "tomorrowsType"])
    }
  }

  @Test(
    "no request can be made that ends the app", arguments: [Int.min, -1, 0, 1, 999, 1_000, 1_001, 1 << 40, Int.max])
  func forbiddenRequests(_ number: Int) throws {
    for entry in SampleTypeCatalogue.healthKit.entries where entry.kind == .characteristic {
      #expect(HealthAppTransferRequest.AppType(entry.shortName) == nil)
    }
    for name in [
      "", "heartRate&offset=-1", "heart rate", "heartRate\r\nX: y", "HeartRate", "biologicalSex", "dateOfBirth",
    ] {
      #expect(HealthAppTransferRequest.AppType(name) == nil)
    }
    let type = try #require(HealthAppTransferRequest.AppType("heartRate"))
    let app = HealthAppTransferApp()
    app.state.withLock { _ = $0.tokens.insert("t") }
    for (offset, limit) in [(number, 1_000), (0, number), (number, number)] {
      let request = HealthAppTransferRequest.data(type, offset: offset, limit: limit, token: "t").request
      _ = app.react(to: request.bytes(to: PeerEndpoint(host: "192.0.2.1", port: 1)))
    }
    #expect(app.state.withLock { $0.crash } == nil)
  }
}
