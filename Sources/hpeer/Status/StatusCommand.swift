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
    abstract: "Say on one screen how everything goes: what runs, peers, destinations, automations.",
    discussion: """
      Of each, when it last went well, when it comes next, and since when and why it fails; and which certificates and \
      tokens end within a month, or have ended. Of a pairing window, until \
      when it is open, how many attempts are left, what it is for and who opened it; never its code.

      For monitoring: ends with 0 where all is well, 3 where no `hpeer serve` or `hpeer run` runs, and 5 where something \
      fails.

      Examples:
        hpeer status
        hpeer status --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: HomeZoneOptions

  func run() async throws {
    let home = common.homeDirectory
    var served: ServerState?
    do {
      served = try await ControlClient.state(at: home.socketPath)
    } catch is ControlClient.NoServer {}
    let store = try home.openStoreForReadingIfThere()
    // An identity that cannot be read is the doctor's to tell of.
    let endings = (try? await home.endings()) ?? []
    let report = try await StatusReport(home, store, served: served, endings: endings)
    if output.json {
      try Console.print(json: report)
    } else {
      let zone = try await zone.timeZone(in: store)
      try StatusPresentation(report: report, served: served, zone: zone, endings: endings).print()
    }
    guard !report.ok else { return }
    throw ExitCode((report.process == nil ? ExitStatus.unreachable : .temporary).rawValue)
  }
}
