import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import PeerProtocol
import PhoneApps
import TestSupport
import Testing

@testable import PeerClient

extension PhoneFixture where App == HealthSyncApp {
  static func healthSync(
    into store: HealthStore, seed: UInt64 = 1,
    happening: @escaping @Sendable (inout HealthSyncApp.State) -> Void = { _ in }
  ) throws -> Self {
    let clock = VirtualClock()
    let app = HealthSyncApp(seed: seed, now: { clock.seconds }, happening: happening)
    app.state.withLock { _ = $0.tokens.insert("token") }
    return try Self(app, dialect: "HealthSync", token: "token", store: store, clock: clock)
  }

  func add(_ samples: [PhoneSample]) { app.state.withLock { $0.add(samples) } }

  var held: Set<UUID> { Set(app.state.withLock { $0.samples.values.flatMap { $0 } }.map(\.id)) }
}

@Suite("Pulling from HealthSync")
struct HealthSyncPullTests {
  @Test("everything comes, once, sixty requests a minute at most; what is vouched for is said")
  func everything() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(25_000, every: 7))
      phone.add(
        (0..<50).map { PhoneSample(type: "weight", start: 1_770_000_000 + Double($0) * 86_400, value: 80, unit: "kg") })
      let first = try await phone.counted()
      #expect(first.added == 25_050)
      // Types, routes, three pages at most, and one for each other type.
      #expect(first.requests <= 9)
      #expect(try await Set(phone.uuids()) == phone.held)
      let coverage = try #require(try await phone.coverage)
      #expect(Set(coverage.entries.map(\.isComplete)) == [true])
      #expect(coverage.largest?.since == Timestamp(seconds: 1_780_000_000 - 7 * 24_999))
      // One request for each of five types, and one for their list.
      let second = try await phone.counted()
      #expect(second.added == 0)
      #expect(second.requests <= 6)
      phone.add(PhoneSample.heartRates(5_000, every: 1, before: 1_780_006_000))
      let third = try await phone.counted()
      #expect(third.added == 5_000)
      #expect(third.requests <= 7)
      #expect(try await phone.verify().isEqual)
      #expect(phone.app.state.withLock(\.refused) == 0)
      #expect(phone.app.state.withLock(\.crash) == nil)
    }
  }

  @Test("more in one second than one answer holds, and seconds that are cut off")
  func seconds() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add((0..<11_000).map { .heartRate(60, at: 1_780_000_000 - Double($0 / 400)) })
      phone.add((0..<10_500).map { .heartRate(60, at: 1_770_000_000 + Double($0) / 20_000) })
      phone.add(PhoneSample.heartRates(500, before: 1_760_000_000))
      try await phone.pull()
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.uuids().count == 22_000)
    }
  }

  @Test("put away again and again, it goes on where it stopped; another run's requests are waited for")
  func interrupted() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(25_000, every: 30))
      for requests in [3, 6, 7] {
        await #expect(throws: PeerError.self) { try await phone.pull(putAwayAfter: requests) }
      }
      phone.add(PhoneSample.heartRates(700, every: 1, before: 1_780_003_000))
      for _ in 0..<3 { try await phone.pull() }
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.coverage?.entries.allSatisfy(\.isComplete) == true)
    }
  }

  @Test(
    "that it has no routes is taken from the answer that means it, and from no other refusal",
    arguments: [0, 400, 401, 403, 423, 429, 500, 503])
  func routes(_ status: Int) async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(30))
      func asked() -> Int { phone.app.state.withLock { $0.requests.count { $0.contains("/health/routes") } } }
      phone.app.state.withLock { $0.routesStatus = status }
      if [401, 423, 429].contains(status) {
        // What they mean is for all requests.
        await #expect(throws: PeerError.self) { try await phone.pull() }
      } else {
        #expect(try await phone.pull().added == 30)
      }
      let before = asked()
      #expect(before >= 1)
      phone.app.state.withLock { $0.routesStatus = nil }
      for _ in 0..<3 { try await phone.pull() }
      // Once more, and its 404 is remembered.
      #expect(asked() == before + 1)
    }
  }

  @Test("what an earlier version took for an answer is asked again")
  func routesOfBefore() throws {
    let before = #"{"r":false,"t":{},"v":1,"x":[]}"#
    #expect(try #require(HealthSyncPosition(before)).hasRoutes == nil)
    var position = HealthSyncPosition()
    position.hasRoutes = false
    #expect(HealthSyncPosition(position.text)?.hasRoutes == false)
  }

  @Test("many pulls of one process share the sixty requests of a minute, and none is refused")
  func pace() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(30, every: 30))
      let before = phone.network.clock.seconds
      for _ in 0..<30 { try await phone.pull() }
      #expect(phone.network.state.withLock(\.requests) > 120)
      #expect(phone.app.state.withLock(\.refused) == 0)
      #expect(phone.network.clock.seconds - before > 60)
    }
  }

  @Test("a request that is refused because others asked is asked again, later; a phone that sleeps is gone on with")
  func refusedAndAsleep() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(12_000, every: 30))
      phone.app.state.withLock { $0.refusals = 3 }
      let before = phone.network.clock.seconds
      try await phone.pull()
      #expect(phone.network.clock.seconds - before >= 60)
      #expect(try await Set(phone.uuids()) == phone.held)
      phone.add(PhoneSample.heartRates(10, every: 30, before: 1_780_000_500))
      phone.app.state.withLock { $0.isAsleep = true }
      await #expect(throws: PeerError.self) { try await phone.pull() }
      phone.app.state.withLock { $0.isAsleep = false }
      #expect(try await phone.pull().added == 10)
    }
  }

  @Test("a count of old windows that is interrupted goes on where it stopped")
  func countGoesOn() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      // Each window is a second with as many as an answer has.
      for window in 0..<6 {
        phone.add((0..<10_000).map { .heartRate(60, at: 1_700_000_000 + Double(window) * 86_400 + Double($0) / 10) })
      }
      phone.add([.heartRate(60, at: 1_779_000_000)])
      try await phone.pull()
      phone.add([.heartRate(1, at: 1_700_000_000.5)])
      phone.network.clock.advance(by: .seconds(8 * 86_400))
      func probes() -> Int { phone.app.state.withLock { $0.requests.count { $0.contains("\"limit\":1,") } } }
      var pulls = 0
      while try await phone.uuids().count < 60_002 {
        pulls += 1
        guard pulls < 12 else { break }
        // Types, each of five types' newest, and a few of what is counted.
        _ = try? await phone.pull(putAwayAfter: 9)
      }
      #expect(try await phone.uuids().count == 60_002)
      #expect(pulls > 1 && pulls < 12)
      #expect(probes() <= 8)
    }
  }

  @Test("a window that is read again, and interrupted, is read to its end by the next pull")
  func countedWindowIsInterrupted() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      let rates = PhoneSample.heartRates(22_000, every: 1_800)
      phone.add(rates)
      try await phone.pull()
      // More than one answer has, with those that are in it already.
      phone.add((1...30).map { .heartRate(1, at: rates[19_990].start + Double($0)) })
      phone.network.clock.advance(by: .seconds(8 * 86_400))
      var requests = 6
      while try await phone.uuids().count == 22_000, requests < 20 {
        _ = try? await phone.pull(putAwayAfter: requests)
        requests += 1
      }
      #expect(try await phone.uuids().count < 22_030)
      try await phone.pull()
      #expect(try await Set(phone.uuids()) == phone.held)
    }
  }

  @Test("what arrives late is found: lately by the next pull, earlier when the windows are counted")
  func late() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(22_000, every: 1_800))
      try await phone.pull()
      phone.add([.heartRate(1, at: 1_779_950_000.5), .heartRate(2, at: 1_752_500_000.5)])
      #expect(try await phone.pull().added == 1)
      phone.network.clock.advance(by: .seconds(8 * 86_400))
      let late = try await phone.counted()
      #expect(late.added == 1)
      #expect(late.requests <= 20)
    }
  }

  @Test("a locked phone, a refused token, a type that is taken back and an empty reply are told apart")
  func refusals() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(PhoneSample.heartRates(10))
      try await phone.pull()
      phone.app.state.withLock { $0.isLocked = true }
      await #expect(throws: PeerError.phoneLocked(peer: "phone")) { try await phone.pull() }
      phone.app.state.withLock { ($0.isLocked, $0.isEmpty) = (false, true) }
      try await phone.pull()
      // Nothing is concluded from nothing.
      #expect(try await phone.coverage?.entries.first?.samples == 10)
      phone.app.state.withLock { ($0.isEmpty, $0.tokens) = (false, []) }
      await #expect(throws: PeerError.tokenRefused(peer: "phone")) { try await phone.pull() }
      #expect(try await phone.uuids().count == 10)
    }
  }

  @Test("one that locks itself in the middle of the first pull, and then has nothing, is not taken for read whole")
  func locksInTheMiddle() async throws {
    let isLocking = NIOLockedValueBox(true)
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store) { state in
        let pages = state.requests.count { $0.contains("heartRate") }
        state.isEmpty = isLocking.withLockedValue { $0 } && pages >= 2
      }
      phone.add(PhoneSample.heartRates(35_000, every: 7))
      try await phone.pull()
      #expect(try await (10_000...30_000).contains(phone.uuids().count))
      let type = SampleType("HKQuantityTypeIdentifierHeartRate")
      #expect(try await phone.coverage?.entries.first { $0.type == type }?.isComplete == false)
      isLocking.withLockedValue { $0 = false }
      try await phone.pull()
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.coverage?.entries.first { $0.type == type }?.isComplete == true)
    }
  }

  @Test("units, sleep, and workouts of the five kinds that have names")
  func forms() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.app.state.withLock { _ = $0.enabled.insert("heartRateVariability") }
      var run = PhoneSample(type: "workouts", start: 1_779_000_000, end: 1_779_001_800, unit: "s")
      run.workoutActivityType = 37
      var climb = PhoneSample(type: "workouts", start: 1_778_000_000, end: 1_778_001_800, unit: "s")
      climb.workoutActivityType = 9
      var sleep = PhoneSample(type: "sleepAnalysis", start: 1_777_000_000, end: 1_777_001_800)
      sleep.categoryValue = 5
      phone.add([
        run, climb, sleep, PhoneSample(type: "heartRateVariability", start: 1_776_000_000, value: 0.05, unit: "s"),
      ])
      #expect(try await phone.pull().added == 4)
      let workouts = try await store.samples.page(of: SampleType("HKWorkoutTypeIdentifier"), limit: 9)
      let activities = workouts.map { sample -> WorkoutActivityType? in
        if case .workout(let workout) = sample.payload { workout.activityType } else { nil }
      }
      #expect(activities == [.value(37), .value(3000)])
      let variability = try await store.samples.page(
        of: SampleType("HKQuantityTypeIdentifierHeartRateVariabilitySDNN"), limit: 9)
      #expect(variability.map(\.payload) == [.quantity(Quantity(50, "ms"))])
    }
  }

  @Test("what another version of the app says of a sample is kept")
  func unknownWords() throws {
    let type = try #require(HealthSyncRequest.AppType("workouts"))
    func workout(_ activity: String) throws -> Sample? {
      let text = #"""
        {"status":"ok","hasMore":false,"returnedCount":1,"samples":[{"id":"B3F1C2A4-1111-4222-8333-000000000001",\#
        "type":"workouts","value":1800,"unit":"s","startDate":"2024-06-15T10:30:00Z","endDate":"2024-06-15T11:00:00Z",\#
        "sourceName":"Watch","metadata":{"activityType":"\#(activity)","durationSeconds":"1800",\#
        "totalDistanceMeters":"5000.00","HKIndoorWorkout":"1"}}]}
        """#
      return try HealthSyncPage(Array(text.utf8), type: type).samples.first
    }
    for (activity, expected) in [
      ("running", .value(37)), ("rowing", .value(35)), ("HKWorkoutActivityTypeRowing", .value(35)),
      ("other", .value(3000)), ("spaceWalk", .name("spaceWalk")),
    ] as [(String, WorkoutActivityType)] {
      let sample = try #require(try workout(activity))
      #expect(sample.metadata == ["HKIndoorWorkout": .string("1")])
      #expect(
        sample.payload
          == .workout(
            Workout(activityType: expected, duration: 1800, totals: ["totalDistance": Quantity(5000, "m")])))
    }
  }

  @Test("stand hours, stages of sleep and offsets without measure cannot be asked for")
  func forbidden() throws {
    for name in [
      "standHours", "sleepInBed", "sleepAsleep", "sleepAwake", "sleepREM", "sleepCore", "sleepDeep", "", "a\"b",
    ] {
      #expect(HealthSyncRequest.AppType(name) == nil)
    }
    #expect(HealthSyncRequest.AppType("sleepAnalysis") != nil)
    let (type, app) = (try #require(HealthSyncRequest.AppType("heartRate")), HealthSyncApp())
    app.state.withLock { _ = $0.tokens.insert("t") }
    for number in [Int.min, -1, 0, 1, 10_001, Int.max] {
      for (offset, limit) in [(number, 10), (0, number), (number, number)] {
        let request = HealthSyncRequest.data(type, .min..<(.max), offset: offset, limit: limit, token: "t").request
        _ = app.react(to: request.bytes(to: PeerEndpoint(host: "192.0.2.1", port: 1)))
      }
    }
    #expect(app.state.withLock(\.crash) == nil)
    #expect(app.state.withLock(\.answered).count == 18)
  }

  @Test("after a sweep the store has what the phone has, each once", arguments: 1...4 as ClosedRange<UInt64>)
  func converges(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store, seed: seed) { state in
        guard state.requests.count % 3 == 0 else { return }
        state.add([.heartRate(1, at: 1_780_000_000 + Double(state.requests.count))])
        if let all = state.samples["heartRate"], all.count > 10 {
          state.remove([all[state.requests.count * 7_919 % all.count].id])
        }
      }
      phone.add(
        PhoneSample.heartRates(Int.random(in: 0...22_000, using: &random), every: [0.001, 1, 60, 900][Int(seed % 4)]))
      for _ in 0..<6 {
        phone.network.clock.advance(by: .seconds(Int.random(in: 1...900_000, using: &random)))
        phone.add(
          (0..<Int.random(in: 0...2_000, using: &random)).map { _ in
            .heartRate(70, at: phone.network.clock.seconds - Double.random(in: 0...3_000_000, using: &random))
          })
        let putAway = random.oneIn(2) ? Int.random(in: 1...9, using: &random) : nil
        do {
          try await phone.pull(full: random.oneIn(6), putAwayAfter: putAway)
        } catch let error as PeerError {
          #expect(error.category == .unreachable, "\(error)")
        }
      }
      let still = try PhoneFixture.healthSync(into: store)
      let held = phone.app.state.withLock(\.samples)
      still.app.state.withLock { $0.samples = held }
      try await still.pull(full: true)
      let uuids = try await still.uuids()
      #expect(Set(uuids).count == uuids.count)
      #expect(still.held.isSubset(of: uuids), "seed \(seed): \(still.held.subtracting(uuids).count) missing")
    }
  }
}
