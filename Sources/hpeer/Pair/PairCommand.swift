import ArgumentParser
import Foundation
import HealthOperations
import PeerClient
import PeerProtocol
import PeerServer
import PeerTrust
import Terminal

struct Pair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pair",
    abstract: "Pair with a machine that serves, or open a pairing window on this one.",
    discussion: """
      Asks for the six digits that the other machine shows. They are never given on the command line, where others \
      could read them. The text of a QR code works in their place, and brings the address along.

      Examples:
        hpeer pair studio
        hpeer pair HealthSync-iOS --qr shot.png  # a phone: a picture of its QR code
        hpeer pair HealthSync-3FA2C41D -         # the same: paste the QR code's text
        hpeer pair HealthSync-3FA2C41D --fingerprint '9F:86:…'  # as it shows
        echo 482913 | hpeer pair studio --code-stdin
        hpeer pair --wait          # on the serving machine: opens a window
        hpeer pair --wait --types heartRate --from 2024-01-01
        hpeer pair --close         # on the serving machine: closes the window
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The other machine's name; - reads the text of a QR code from standard input.")
  var name: String?
  @Argument(help: "- reads the text of a QR code from standard input; NAME is then your name for the machine.")
  var source: String?
  @Option(help: "The other machine's address, HOST[:PORT], instead of looking for it.")
  var host: String?
  @Option(
    name: .customLong("qr"), help: "A picture of the QR code (PNG or JPEG), which says where its machine is.",
    completion: .file())
  var picture: String?
  @Option(help: "The SHA-256 of the other machine's certificate, as it shows it: only that machine is sent the code.")
  var fingerprint: String?
  @Flag(help: "Read the code from standard input.")
  var codeStdin = false
  @Flag(
    help: "Open a pairing window on the running server and show the code until a device pairs or you stop the command.")
  var wait = false
  @Flag(help: "Close the pairing window of the running server.")
  var close = false
  @OptionGroup(title: "With --wait: what a machine that pairs may read") var scope: ScopeOptions
  @Flag(help: "With --wait: print HealthAppTransfer's JSON on standard output, too.")
  var pairingJSON = false

  func validate() throws {
    if wait, close { throw ValidationError("Give --wait or --close, not both.") }
    if wait || close, name != nil || host != nil || codeStdin || picture != nil || fingerprint != nil {
      throw ValidationError(
        "--\(wait ? "wait" : "close") is for this machine and takes no name, --host, --qr, --fingerprint or --code-stdin."
      )
    }
    if picture != nil, name == "-" || source != nil || host != nil || codeStdin || fingerprint != nil {
      throw ValidationError(
        "--qr already contains the address and code. Remove -, --host, --fingerprint or --code-stdin.")
    }
    if let fingerprint, Fingerprint(shown: fingerprint) == nil {
      throw ValidationError(
        "--fingerprint takes the 64 hexadecimal digits of a SHA-256, in either case, with colons and spaces or without."
      )
    }
    if !wait, scope.isGiven {
      throw ValidationError(
        "What a machine may read is said where it is read from: --types and --from go with --wait.")
    }
    if let source, source != "-" || name == "-" {
      throw ValidationError("Only - may follow the name, to read a code from standard input.")
    }
    if name == "-" || source == "-", host != nil || codeStdin || fingerprint != nil {
      throw ValidationError(
        "With -, the code says which machine it is: give no --host, --fingerprint and no --code-stdin.")
    }
    if let name, name.hasPrefix("{") || PairingCode(name) != nil || name.uppercased().hasPrefix("HPEER:") {
      throw ValidationError(
        "A code on the command line can be read by every user of this machine: type it when asked, or pipe it in with --code-stdin. Ask for a new code now."
      )
    }
  }

  func run() async throws {
    if wait { return try await waitHere() }
    if close {
      let wasOpen = try await ControlClient.closeWindow(at: common.homeDirectory.socketPath)
      return Console.say(wasOpen ? "The pairing window is closed." : "No pairing window was open.")
    }
    let home = common.homeDirectory
    let registry = try await home.openRegistry()
    let identity = try await home.identity()
    let finder = PeerFinder(registry: registry, ownID: identity.id) { PlainText.escaped($0) }
    let dialogue = PairingDialogue(home, registry: registry, identity: identity, finder: finder)
    if name == "-" || source == "-" {
      let server = try await dialogue.pair(with: [], code: .text(name: source == nil ? nil : name))
      return try await dialogue.introduce(to: server)
    }
    if let picture {
      let server = try await dialogue.pair(with: [], code: .picture(picture, name: name))
      return try await dialogue.introduce(to: server)
    }
    if let fingerprint = fingerprint.flatMap(Fingerprint.init(shown:)) {
      let known = try host.map { [try PeerEndpoint(hostOption: $0)] } ?? []
      let server = try await dialogue.pair(
        with: known, code: .pinned(fingerprint, name: name, fromStandardInput: codeStdin))
      return try await dialogue.introduce(to: server)
    }
    let endpoints: [PeerEndpoint]
    if let host {
      let endpoint = try PeerEndpoint(hostOption: host)
      endpoints = [endpoint]
    } else {
      endpoints = try await find(finder)
    }
    let server = try await dialogue.pair(with: endpoints, code: codeStdin ? .standardInput : .prompt)
    try await dialogue.introduce(to: server)
  }

  /// Finds the machine to pair with. A paired machine may pair again, which renews the token.
  private func find(_ finder: PeerFinder) async throws -> [PeerEndpoint] {
    switch try await finder.target(named: name) {
    case .unpaired(_, let endpoints): return endpoints
    case .paired(let server, _) where server.traits.isApp:
      throw PairError.codeAlone(peer: server.name, app: server.dialect)
    case .paired(let server, let endpoints):
      let (_, endpoint) = try await finder.reach(server, endpoints: endpoints) { endpoint in
        _ = try await PairingSession.open(at: endpoint, pinned: server.fingerprint)
      }
      return [endpoint]
    }
  }

  private func waitHere() async throws {
    let path = common.homeDirectory.socketPath
    // The server reports why a store cannot be read.
    let store = try? common.homeDirectory.openStore()
    if let person = try? await store?.person(), let text = PersonText.owner(person) {
      Console.say(text)
    }
    let zone = try await scope.period.zone.timeZone(in: store)
    let scope = try await scope.scope(in: store)
    let operation = PairingWindowOperation(socketPath: path, scope: scope)
    try await interruptible("no machine has paired, and the window is closed.") {
      try await operation.run { try WindowPresentation.show($0, scope: scope, in: zone, pairingJSON: pairingJSON) }
    }
  }
}
