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
      For each: the last success, the next run, and since when and why it is failing. Also shows certificates and tokens \
      that have expired or expire within a month, and an open pairing window: how long it stays open, the attempts left, \
      what it allows and who opened it, but never its code.

      For monitoring: exits with 0 if all is well, 3 if neither `hpeer serve` nor `hpeer run` is running, and 5 if \
      something is failing.

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
    // `hpeer doctor` reports an identity that cannot be read.
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
