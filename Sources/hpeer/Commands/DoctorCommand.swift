import ArgumentParser
import Diagnosis
import Foundation
import PeerProtocol
import PeerTrust
import Terminal

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check what usually goes wrong on this machine, and say the remedy.",
    discussion: """
      Looks at D-Bus, avahi-daemon, other mDNS responders, multicast, containers, the firewall, the port, the clock, \
      permissions, the disk, the store, the identity and the paired machines. Changes nothing. Each line is one finding, \
      with the remedy below it; as root it sees the firewall's rules, too.

      The exit code is 0 if nothing stands in the way (warnings and notes do not), and 1 otherwise. --json prints \
      {"ok":bool,"findings":[{"id","severity","text","remedy"}]}, where severity is ok, note, warning or blocking, and \
      remedy is absent where there is none.

      Examples:
        hpeer doctor
        hpeer doctor --check-store
        hpeer doctor --port 9000 --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Option(help: ArgumentHelp("The port that `hpeer serve` listens on. (default: \(Route.defaultPort))"))
  var port: UInt16?
  @Flag(help: "Read every page of the store and check it.")
  var checkStore = false

  func validate() throws {
    guard port != 0 else { throw ValidationError("--port takes a number from 1 to 65535.") }
  }

  private struct Report: Encodable {
    var ok: Bool
    var findings: [Finding]
  }

  func run() async throws {
    let home = common.homeDirectory
    let subject = Subject(
      home: home.directory, socketPath: home.socketPath, port: port ?? UInt16(Route.defaultPort),
      isPortChosen: port != nil, checksStore: checkStore, rootCommand: rootCommand(home))
    let findings = await Doctor(subject).examine()
    if output.json {
      try Console.print(json: Report(ok: findings.areHealthy, findings: findings))
    } else {
      let presentation = FindingPresentation(
        style: Console.outputStyle, usesUTF8: Console.capabilities.usesUTF8)
      for line in findings.flatMap(presentation.lines) { try Console.print(line) }
      Console.say(FindingPresentation.summary(findings))
    }
    if !findings.areHealthy { throw ExitCode(ExitStatus.other.rawValue) }
  }

  /// Root has another home, and may not have this program on its path.
  private func rootCommand(_ home: Home) -> String {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "hpeer"
    let isOnPath = ["/usr/bin", "/usr/local/bin", "/bin"].contains((program as NSString).deletingLastPathComponent)
    let port = port.map { " --port \($0)" } ?? ""
    return
      "sudo \(isOnPath ? "hpeer" : ShellWord.quoted(program)) doctor --home \(ShellWord.quoted(home.directory))\(port)"
  }
}
