import ArgumentParser
import Foundation
import HealthModel
import HealthOperations
import PeerServer
import PeerTrust
import Terminal

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Say whether this machine serves, and whether a pairing window is open.",
    discussion: """
      Says until when a window is open, how many attempts are left, what it is for and who opened it; never its code.

      Examples:
        hpeer status
        hpeer status --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: HomeZoneOptions

  private struct Report: Encodable {
    struct Window: Encodable {
      var state: String
      var expires: Date?
      var attemptsLeft: Int?
      var types: [String]?
      var since: Timestamp?
      var until: Timestamp?
      var sources: [String]?
      var openedBy: String?
      var process: Int32?
    }
    var process: Int32
    var name: String?
    /// Since when no client is answered.
    var locked: Date?
    var window: Window
  }

  func run() async throws {
    let state = try await ControlClient.state(at: common.homeDirectory.socketPath)
    let locked = try await common.homeDirectory.openRegistry().lockedSince()
    if output.json { return try Console.print(json: Self.report(state, locked: locked)) }
    let zone = try await zone.timeZone(in: try? common.homeDirectory.openStoreForReading())
    let name = state.name.map { " as \(PlainText.escaped($0))" } ?? ""
    try Console.print("Serving\(name) (process \(state.process)).")
    if let locked {
      let since = Timestamp(seconds: Timestamp(locked).seconds).iso8601(in: zone)
      try Console.print("Locked since \(since): paired machines get no answer until `hpeer unlock`.")
    }
    switch state.window {
    case .closed: try Console.print("No pairing window is open: `hpeer pair --wait` opens one.")
    case .locked:
      try Console.print("Pairing is locked after five wrong codes: `hpeer pair --wait` opens a new window.")
    case .open(let window):
      let left = max(0, window.expiresAt.rawValue - Date().timeIntervalSince1970)
      let attempts = HumanFormat.count(window.attemptsLeft.rawValue, "attempt")
      try Console.print(
        "A pairing window is open for \(HumanFormat.countdown(.seconds(left.rounded()))) more, \(attempts) left, opened "
          + (window.process.map { "by `hpeer pair --wait` (process \($0))." } ?? "on the server's terminal."))
      try Console.print(ScopeText.ofCode(window.scope, in: zone))
    }
  }

  private static func report(_ state: ServerState, locked: Date?) -> Report {
    let window: Report.Window =
      switch state.window {
      case .closed: .init(state: "closed")
      case .locked: .init(state: "locked")
      case .open(let window):
        .init(
          state: "open", expires: Date(timeIntervalSince1970: window.expiresAt.rawValue),
          attemptsLeft: window.attemptsLeft.rawValue, types: window.scope?.types?.map(\.rawValue).sorted(),
          since: window.scope?.earliest, until: window.scope?.end, sources: window.scope?.sources?.sorted(),
          openedBy: window.process == nil ? "terminal" : "command",
          process: window.process)
      }
    return Report(process: state.process, name: state.name, locked: locked, window: window)
  }
}
