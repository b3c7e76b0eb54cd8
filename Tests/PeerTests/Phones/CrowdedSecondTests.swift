import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PhoneApps
import Testing

@testable import PeerClient

@Suite("Seconds with more samples than an answer holds")
struct CrowdedSecondTests {
  private static func crowd(_ count: Int, at second: Double) -> [PhoneSample] {
    // All in one instant, so that not even the phone has an order for them.
    (0..<count).map { .heartRate(60 + Double($0 % 40), at: second) }
  }

  @Test("come whole from HealthAppTransfer, whatever order each request has them in: first, in the middle and last")
  func healthAppTransfer() async throws {
    for second in [1_780_000_500, 1_779_900_000, 1_770_000_000] as [Double] {
      try await withStore { store in
        let phone = try PhoneFixture.healthAppTransfer(into: store, seed: UInt64(second))
        phone.add(PhoneSample.heartRates(2_500) + Self.crowd(2_700, at: second))
        try await phone.pull()
        #expect(try await Set(phone.uuids()) == phone.held)
        #expect(try await phone.coverage?.entries.first?.isComplete == true)
        // What comes later is found beside it.
        phone.add(PhoneSample.heartRates(40, every: 1, before: 1_780_000_900))
        try await phone.pull()
        #expect(try await Set(phone.uuids()) == phone.held)
        #expect(try await phone.verify().isEqual)
      }
    }
  }

  @Test("that are interrupted are read again")
  func interrupted() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      phone.add(PhoneSample.heartRates(1_500) + Self.crowd(2_700, at: 1_779_970_000))
      for requests in [3, 4, 6, 9] { _ = try? await phone.pull(putAwayAfter: requests) }
      try await phone.pull()
      #expect(try await Set(phone.uuids()) == phone.held)
    }
  }

  @Test("come whole from HealthSync")
  func healthSync() async throws {
    try await withStore { store in
      let phone = try PhoneFixture.healthSync(into: store)
      phone.add(Self.crowd(12_000, at: 1_779_000_000) + PhoneSample.heartRates(300))
      try await phone.pull()
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.uuids().count == 12_300)
      #expect(phone.app.state.withLock(\.refused) == 0)
    }
  }
}
