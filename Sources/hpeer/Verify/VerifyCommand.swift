import ArgumentParser
import Foundation
import HealthModel
import HealthOperations
import OperatingSystem
import PeerClient
import PeerTrust
import Terminal

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare this machine's store with another's.",
    discussion: """
      Compares which samples and which deletions both machines know; with --deep also the contents of each sample, which \
      reads all of them. Changes nothing. If they differ, it names the types and the months, and exits with 9. Only what \
      this machine may read of the other is compared.

      Examples:
        hpeer verify studio
        hpeer verify --types heartRate,workout --deep
        hpeer verify --host 192.168.1.20 --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Argument(help: "The other machine's name, or the beginning of its id.", completion: .servers)
  var name: String?
  @Option(help: "The other machine's address, HOST[:PORT], instead of looking for it.")
  var host: String?
  @OptionGroup var selection: TypeOptions
  @Flag(help: "Also compare the contents of samples.")
  var deep = false
  @Option(help: "Give up when the other machine says nothing for so many seconds.")
  var timeout = PeerConnection.silenceLimit

  func validate() throws {
    guard (1...3600).contains(timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    if name != nil, host != nil { throw ValidationError("Give a name or --host, not both.") }
  }

  func run() async throws {
    ProcessMemory.returnLargeBlocks()
    let home = common.homeDirectory
    let registry = try await home.openRegistryForReading()
    let store = try home.openStore()
    if host == nil, try await registry.servers().isEmpty {
      throw CommandFailure(
        .refused,
        "Nothing is paired to compare with: `hpeer pair NAME` pairs with a machine, and `hpeer discover` finds names.")
    }
    let ownID = try await IdentityStore.existing(in: home.url)?.id
    let finder = PeerFinder(registry: registry, ownID: ownID, silenceLimit: timeout) { PlainText.escaped($0) }
    let target =
      if let host { try await finder.target(at: try PeerEndpoint(hostOption: host)) } else {
        try await finder.target(named: name)
      }
    switch target {
    case .unpaired(let name, _): throw PeerError.notPaired(peer: PlainText.escaped(name))
    case .paired(let server, let endpoints):
      let operation = VerifyOperation(
        LocalPeer(store: store, registry: registry, identity: try await home.identity()), finder: finder,
        types: selection.types.withMembers,
        isDeep: deep, silenceLimit: timeout, progress: ProgressBars())
      let verification = try await interruptible { try await operation.run(with: server, at: endpoints) }
      let presentation = VerifyPresentation(server: server, verification: verification)
      if output.json { try Console.print(json: presentation.report) } else { try presentation.print() }
      try presentation.requireEqual()
    }
  }
}

/// The result of a comparison: both stores are equal, or where they differ.
struct VerifyPresentation {
  let server: ServerRecord
  let verification: Verification

  struct Report: Encodable {
    var peer: String
    var id: String
    var equal: Bool
    var deep: Bool
    /// The types that were compared; `nil` for all types.
    var types: [String]?
    var earliest: Timestamp?
    var end: Timestamp?
    var sources: [String]?
    /// The number of compared samples in this store.
    var samples: Int
    var deleted: Int
    var differences: [Difference]
    /// The types that could not be compared; `nil` if there are none.
    var unread: [Unread]?
  }

  struct Unread: Encodable {
    var type: String
    var identifier: String
    var reason: String
  }

  struct Difference: Encodable {
    var type: String
    var identifier: String
    var month: String
    /// The aspects that differ: `samples`, `tombstones`, `contents`.
    var differs: [String]
    var here: Counts
    var there: Counts
  }

  struct Counts: Encodable {
    var samples: Int
    var deleted: Int

    init(_ digest: MonthDigest) {
      (samples, deleted) = (digest.samples.count, digest.tombstones.count)
    }
  }

  var report: Report {
    Report(
      peer: server.name, id: server.id.hex, equal: verification.isEqual, deep: verification.isDeep,
      types: verification.filter.types?.map(\.rawValue).sorted(), earliest: verification.filter.earliest,
      end: verification.filter.end, sources: verification.filter.sources?.sorted(),
      samples: verification.here.samples.count, deleted: verification.here.tombstones.count,
      differences: verification.differences.map { difference in
        Difference(
          type: difference.type.shortName, identifier: difference.type.rawValue,
          month: difference.month.description, differs: difference.aspects.map(\.rawValue),
          here: Counts(difference.here), there: Counts(difference.there))
      },
      unread: verification.unread.isEmpty
        ? nil
        : verification.unread.map {
          Unread(type: $0.type.shortName, identifier: $0.type.rawValue, reason: $0.reason)
        })
  }

  /// Prints one line if the stores are equal, else a table. Prints nothing if the only problem is that some types
  /// were not read.
  func print() throws {
    if verification.differences.isEmpty, !verification.unread.isEmpty { return }
    guard !verification.isEqual else {
      let (samples, deleted) = (verification.here.samples.count, verification.here.tombstones.count)
      let what = verification.isDeep ? "equal, down to what each sample says" : "equal"
      return try Console.print(
        "\(PlainText.escaped(server.name)): \(what): \(HumanFormat.count(samples, "sample")) of "
          + "\(HumanFormat.count(verification.here.types.count { !$0.samples.isEmpty }, "type")), "
          + "\(HumanFormat.count(deleted, "deletion"))\(scope)")
    }
    var table = Table(columns: [.init("TYPE"), .init("MONTH"), .init("DIFFERENCE")])
    for difference in verification.differences {
      table.append([
        .init(difference.type.shortName), .init(difference.month.description), .init(Self.text(of: difference)),
      ])
    }
    try Console.print(table)
  }

  /// Throws an error with an exit code of its own unless both stores are equal.
  func requireEqual() throws {
    guard !verification.isEqual else { return }
    let differences = verification.differences
    let types = Set(differences.map { Array($0.type.rawValue.utf8) }).count
    let name = PlainText.escaped(server.name)
    guard verification.unread.isEmpty else {
      let unread = verification.unread.map { PlainText.escaped("\($0.type.shortName) (\($0.reason))") }
      let rest =
        differences.isEmpty
        ? "of the others nothing is missing here"
        : "of what came, samples are missing here in \(HumanFormat.count(differences.count, "month")) of "
          + HumanFormat.count(types, "type")
      throw CommandFailure(
        .partial,
        "\(name) could not send \(unread.joined(separator: ", ")), so not all was compared; \(rest)\(scope): open "
          + "the app again, and run the same command.", isInReport: true)
    }
    throw CommandFailure(
      .notEqual,
      "This machine and \(name) differ in \(HumanFormat.count(differences.count, "month")) of "
        + "\(HumanFormat.count(types, "type"))\(scope): `hpeer pull` fetches what is missing here; what only this "
        + "machine has gets to \(name) when that pulls from here.",
      isInReport: true)
  }

  private var scope: String {
    let limits = [
      verification.filter.types.map { HumanFormat.count($0.count, "type") },
      verification.filter.earliest.map { "what starts at \($0.iso8601(in: .current)) or later" },
      verification.filter.end.map { "what starts before \($0.iso8601(in: .current))" },
      verification.filter.sources.map { HumanFormat.count($0.count, "source") },
    ].compactMap(\.self)
    return limits.isEmpty ? "" : " (compared: \(limits.joined(separator: ", ")))"
  }

  static func text(of difference: DigestDifference) -> String {
    let (here, there) = (difference.here, difference.there)
    return difference.aspects.map { aspect in
      switch aspect {
      case .samples: compare(here.samples.count, there.samples.count, "sample")
      case .tombstones: compare(here.tombstones.count, there.tombstones.count, "deletion")
      case .contents: "the same \(HumanFormat.count(here.samples.count, "sample")) with other contents"
      }
    }.joined(separator: "; ")
  }

  private static func compare(_ here: Int, _ there: Int, _ noun: String) -> String {
    switch (here, there) {
    case (_, 0): "\(HumanFormat.count(here, noun)) here, none there"
    case (0, _): "none here, \(HumanFormat.count(there, noun)) there"
    case _ where here == there: "\(HumanFormat.count(here, noun)) here and there, but not the same"
    default: "\(HumanFormat.count(here, noun)) here, \(HumanFormat.count(there)) there"
    }
  }
}
