import ArgumentParser
import Diagnosis
import Foundation
import HealthOperations
import OperatingSystem
import PeerProtocol
import PeerTrust
import Terminal

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Find common problems on this machine and with paired machines, and say how to fix them.",
    discussion: """
      Looks at D-Bus, avahi-daemon, other mDNS responders, multicast, containers, the firewall, the port, the clock, \
      permissions, the disk, the store, the identity and the paired machines. Changes nothing. Each line is one finding, \
      with the remedy below it; as root it sees the firewall's rules, too.

      Each machine that is pulled from is tried, and may be off. With a NAME that one must be there, and is looked at step \
      by step: where it is announced, what answers there, its certificate, whether it accepts this machine, its clock. \
      Then it says what it sees of this machine: from where, what this one may read and until when, whether its own disk is \
      full, and, if it pulls from here, too, whether it reaches this machine. That leaves lines in its audit log.

      --bundle writes what a stranger needs to help into a file: versions, which checks found what, which settings there \
      are, how many rows each table has, sizes, room and limits. It holds no samples or types, no names, addresses, \
      fingerprints or secrets; look through it all the same before you send it.

      The exit code is 0 if nothing stands in the way (warnings and notes do not, nor does a machine that is off, unless \
      it was named), and 1 otherwise. --json prints {"ok":bool,"findings":[{"id","severity","text","remedy","peer"}]}, where \
      severity is ok, note, warning or blocking, remedy is absent where there is none, and peer names the paired machine \
      that was tried.

      Examples:
        hpeer doctor
        hpeer doctor studio
        hpeer doctor --check-store
        hpeer doctor --port 9000 --json
        hpeer doctor --bundle ~/hpeer-bundle.tar.gz
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Argument(
    help: "A machine that is pulled from: its name, or the beginning of its id.", completion: .servers)
  var name: String?
  @Option(help: ArgumentHelp("The port that `hpeer serve` listens on. (default: \(Route.defaultPort))"))
  var port: UInt16?
  @Flag(help: "Check the whole store. This may take long.")
  var checkStore = false
  @Option(
    help: "Write a support bundle (.tar.gz or .tar.zst) to this file: nothing about you or your health.")
  var bundle: String?

  func validate() throws {
    guard port != 0 else { throw ValidationError("--port takes a number from 1 to 65535.") }
  }

  private struct Report: Encodable {
    var ok: Bool
    var findings: [Finding]
  }

  func run() async throws {
    let home = common.homeDirectory
    var subject = Subject(
      home: home.directory, socketPath: home.socketPath, port: port ?? UInt16(Route.defaultPort),
      isPortChosen: port != nil, checksStore: checkStore, peer: try await peer(home), rootCommand: rootCommand(home))
    subject.scopeWords = { ($1 ? "numbers of whole days of " : "") + ScopeText.of($0, in: .current) }
    let findings = await Doctor(subject).examine()
    if let bundle {
      let found = findings.map { SupportBundle.Finding(id: $0.id, severity: $0.severity.rawValue) }
      try await SupportBundle(home, version: Hpeer.version, findings: found).write(to: bundle)
    }
    if output.json {
      try Console.print(json: Report(ok: findings.areHealthy, findings: findings))
    } else {
      let presentation = FindingPresentation(
        style: Console.outputStyle, usesUTF8: Console.capabilities.usesUTF8)
      for line in presentation.lines(findings) { try Console.print(line) }
      Console.say(FindingPresentation.summary(findings))
      if let bundle {
        Console.say(
          "The support bundle is in \(PlainText.escaped(bundle)). Look through it before you send it.")
      }
    }
    if !findings.areHealthy { throw ExitCode(ExitStatus.other.rawValue) }
  }

  /// Returns the machine that `name` means. The registry is inspected, because opening it would create one.
  private func peer(_ home: Home) async throws -> PeerID? {
    guard let name else { return nil }
    guard let peers = try await PeerRegistry.inspect(in: home.url) else { throw PeerRegistryError.notFound(name) }
    do {
      return try peers.server(matching: name).id
    } catch PeerRegistryError.notFound(let missing) {
      guard (try? peers.client(matching: name)) != nil else { throw PeerRegistryError.notFound(missing) }
      throw CommandFailure(
        .refused,
        "\(name) reads here, and this machine does not pull from it: run `hpeer doctor` with this machine's name there."
      )
    }
  }

  /// Returns the command that runs the doctor as root, which has another home and may not have this program on its
  /// path.
  private func rootCommand(_ home: Home) -> String {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "hpeer"
    let isOnPath = ["/usr/bin", "/usr/local/bin", "/bin"].contains((program as NSString).deletingLastPathComponent)
    let port = port.map { " --port \($0)" } ?? ""
    return
      "sudo \(isOnPath ? "hpeer" : ShellWord.quoted(program)) doctor --home \(ShellWord.quoted(home.directory))\(port)"
  }
}

/// The findings for people: a mark and a line, and the remedy below.
struct FindingPresentation {
  var style: Style
  var usesUTF8: Bool

  /// The maximum length of a text, enough for a command with two paths in it.
  private static let limit = 600

  /// Returns the lines of all findings. A remedy that several findings have is said once, below the first of them.
  func lines(_ findings: [Finding]) -> [String] {
    zip(findings, findings.repeatRemedies).flatMap { lines($0, repeatsRemedy: $1) }
  }

  private func lines(_ finding: Finding, repeatsRemedy: Bool) -> [String] {
    let line = "\(mark(finding.severity)) \(PlainText.escaped(finding.text, limit: Self.limit))"
    guard let remedy = finding.remedy else { return [line] }
    let arrow = usesUTF8 ? "→" : "->"
    let text = repeatsRemedy ? "as above" : PlainText.escaped(remedy, limit: Self.limit)
    return [line, "  \(style.dim(arrow)) \(text)"]
  }

  private func mark(_ severity: Finding.Severity) -> String {
    switch severity {
    case .ok: style.green(usesUTF8 ? "✓" : "ok  ")
    case .note: style.dim(usesUTF8 ? "·" : "note")
    case .warning: style.yellow(usesUTF8 ? "!" : "warn")
    case .blocking: style.red(usesUTF8 ? "✗" : "FAIL")
    }
  }

  /// The maximum number of unreached machines that are named.
  private static let namedPeers = 4

  static func summary(_ findings: [Finding]) -> String {
    let blocking = findings.count { $0.severity == .blocking }
    let warnings = findings.count { $0.severity == .warning }
    let rest = (warnings == 0 ? "" : "; \(HumanFormat.count(warnings, "warning"))") + away(findings.unreachedPeers)
    return switch blocking {
    case 0: "No blocking problem\(rest)."
    case 1: "1 thing stands in the way\(rest)."
    default: "\(blocking) blocking problems\(rest)."
    }
  }

  /// Returns the list of machines that were not reached. They are no obstacle, but a person may wonder where they
  /// are.
  private static func away(_ names: [String]) -> String {
    guard !names.isEmpty else { return "" }
    let more = names.count - namedPeers
    let list = names.prefix(namedPeers).map { PlainText.escaped($0) }.joined(separator: ", ")
    return "; not reached: \(list)\(more > 0 ? " and \(more) more" : "") (`hpeer doctor NAME` looks closer)"
  }
}
