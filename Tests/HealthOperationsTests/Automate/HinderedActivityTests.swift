import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthOperations

/// Tests of the status of an automation that failed, could then not even be waited for, and then could.
@Suite("Hindered activities", .timeLimit(.minutes(5)))
struct HinderedActivityTests {
  private let activities: HealthStore.Activities
  private let home: TestHome
  private let name = "automation:morning"

  init() throws {
    home = try TestHome()
    activities = home.store.activities
  }

  @Test(
    "what failed before is still said when nothing hinders it any more, until it ends well", arguments: [false, true])
  func failsOn(endsWell: Bool) async throws {
    try await activities.end(name, failure: "wrong password", event: nil)
    let before = try #require(try await activities.state(of: name))
    try await activities.end(name, failure: "the folder is gone", event: nil)
    if endsWell {
      try await activities.end(name, failure: nil, event: nil)
      try await activities.end(name, failure: "the folder is gone", event: nil)
    }
    try await activities.noteUnhindered(name, before: before)
    let state = try #require(try await activities.state(of: name))
    #expect(state.failing == (endsWell ? nil : before.failing))
    #expect(state.failures == (endsWell ? 0 : 1))
    #expect(state.reason == (endsWell ? nil : "wrong password"))
  }

  @Test("what hindered it in a process before is not said any more when nothing hinders it")
  func goesOn() async throws {
    try await activities.end(name, failure: "the folder is gone", event: nil)
    let before = try #require(try await activities.state(of: name))
    try await activities.end(name, failure: "the folder is gone", event: nil)
    try await activities.noteUnhindered(name, before: before)
    let state = try #require(try await activities.state(of: name))
    #expect(state.failing == nil && state.failures == 0 && state.reason == nil)
  }
}
