import Foundation
import TestSupport
import Testing

/// A command that is killed at one of its writes, on a fresh copy of a home, and then run again.
struct KillTrial: Sendable {
  /// The home before the command, or nil if there is none.
  var template: Host?
  let scratch: Scratch
  let command: [String]
  var input: String?
  /// The contents of the store after a run without kills.
  let expected: StoreContents

  /// Returns a copy of the home before the command.
  func fresh(_ name: String = "trial") throws -> Host {
    if let template { return try template.copy(name) }
    let host = scratch.host(name)
    try? FileManager.default.removeItem(atPath: host.home)
    return host
  }

  /// Returns the writes of a run without kills.
  func log() async throws -> WriteLog {
    let host = try fresh()
    let path = scratch.path + "/log-" + UUID().uuidString
    let environment = try FaultyWrites.environment(home: host.home, log: path)
    let outcome = try await host.start(command, input: input, environment: environment).outcome()
    try #require(outcome.status == 0, "\(outcome.errors)")
    try await host.expect(expected, after: "no kill")
    return try WriteLog(path)
  }

  /// A closure that inspects or damages the home before the run that must repair it.
  typealias Between = @Sendable (Host, FaultyWrites.Point) async throws -> Void

  /// Kills at each point and expects that another run repairs everything. Returns the number of actual kills, because
  /// a run may make slightly fewer writes than the counted run.
  func run(_ points: [FaultyWrites.Point], between: @escaping Between = { _, _ in }) async throws -> Int {
    let lanes = 2
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for lane in 0..<lanes {
        group.addTask {
          var kills = 0
          for index in stride(from: lane, to: points.count, by: lanes) {
            if try await kill(at: points[index], home: "trial-\(lane)", between: between) { kills += 1 }
          }
          return kills
        }
      }
      return try await group.reduce(0, +)
    }
  }

  private func kill(at point: FaultyWrites.Point, home: String, between: Between) async throws -> Bool {
    let host = try fresh(home)
    let environment = try FaultyWrites.environment(home: host.home, at: point)
    let killed = try await host.start(command, input: input, environment: environment).outcome()
    guard killed.status == 128 + SIGKILL else {
      #expect(killed.status == 0, "\(point): \(killed.errors)")
      return false
    }
    try await between(host, point)
    let again = try await host.start(command, input: input).outcome()
    #expect(again.status == 0, "\(point): \(again.errors)")
    try await host.expect(expected, after: point)
    return true
  }
}
