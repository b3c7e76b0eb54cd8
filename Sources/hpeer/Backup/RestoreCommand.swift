import AgeEncryption
import ArgumentParser
import BackupArchive
import Foundation
import HealthOperations
import OperatingSystem
import PeerTrust
import Terminal

struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put a backup back, or have paired machines give back what they hold, on this machine or a new one.",
    discussion: """
      All is unpacked and checked before anything takes its place. What is here already is refused, or with --replace kept \
      in a folder beside. By default this machine becomes the one that the backup was made on, with its identity and \
      pairings, so that one must not run any more; --new-identity takes the record alone, and both go on.

      What was deleted after the backup was made would be there again: paired machines get no answer until those that know \
      have been asked, which `hpeer run` and `hpeer pull --all` do, or until `hpeer unlock`. docs/how-to/backup.md tells the \
      whole.

      Examples:
        hpeer restore health.tar.zst.age
        hpeer restore --identity-file key.txt --yes nightly.age
        hpeer restore --new-identity health.tar.zst.age
        hpeer restore --replace record.tar.zst
        hpeer restore --from-peers studio laptop    # no backup: what they hold
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var opening: BackupKeyOptions
  @Flag(help: "Move existing data into a folder beside it, and put the backup in its place.")
  var replace = false
  @Flag(help: "Restore the record alone. The other machine keeps its identity, and this one has its own.")
  var newIdentity = false
  @Flag(
    help: "Without a backup: everything that these machines hold, which serve it; without names, those paired with.")
  var fromPeers = false
  @Option(help: "With --from-peers: a machine's address, HOST[:PORT], instead of looking for it.")
  var host: [String] = []
  @Flag(help: "With --from-peers: read codes from standard input.")
  var codeStdin = false
  @Flag(
    help: """
      Do not ask: you confirm that the backed-up machine no longer runs and that all the backup brings is yours.
      """)
  var yes = false
  @Argument(help: "The backup, or with --from-peers the machines.", completion: .file())
  var names: [String] = []

  func validate() throws {
    if fromPeers {
      if replace || newIdentity || opening.isGiven {
        throw ValidationError("--from-peers reads no backup: leave the options of one out.")
      }
      return
    }
    guard names.count == 1 else { throw ValidationError("Name one backup, or give --from-peers.") }
    if !host.isEmpty || codeStdin { throw ValidationError("--host and --code-stdin go with --from-peers.") }
  }

  private struct Report: Encodable {
    var created: Date
    var samples: Int
    var deleted: Int
    var digest: String
    var identity: String
    var keptIn: [String]
    var waitsFor: [String]
    var redelivered: [String]
  }

  func run() async throws {
    if fromPeers {
      return try await PeerRestoring(
        home: common.homeDirectory, names: names, hosts: host, readsCode: codeStdin, json: output.json
      ).run()
    }
    let (home, file) = (common.homeDirectory, names[0])
    let keys = try await opening.keys(for: file)
    if !keys.isEmpty, !newIdentity, !yes { try await askAboutOther() }
    try PrivateFile.makeDirectory(home.directory)
    let lock = try ServeLock(home)
    defer { lock.release() }
    let restoration = BackupRestoration(
      file, keys: keys, into: home, keepsIdentity: !newIdentity, replaces: replace, progress: ProgressBars(),
      review: { [yes] in try await Self.review($0, yes: yes) })
    let result = try await interruptible("nothing was restored.") { try await restoration.run(holding: lock) }
    let manifest = result.manifest
    let waiting = (result.restoration?.servers.map(\.name) ?? []) + (result.restoration?.clients.map(\.name) ?? [])
    if output.json {
      return try Console.print(
        json: Report(
          created: manifest.created, samples: manifest.record.samples, deleted: manifest.record.deleted,
          digest: manifest.record.digest, identity: result.keepsIdentity ? "kept" : "own", keptIn: result.keptIn,
          waitsFor: waiting, redelivered: result.redelivered))
    }
    try Console.print(
      "Restored \(HumanFormat.count(manifest.record.samples, "sample")) of \(manifest.created.formatted(.iso8601)).")
    if result.keepsIdentity {
      Console.say(
        "This machine has the identity of \(PlainText.escaped(manifest.host ?? "the other", limit: 100)) now: "
          + "the one that was backed up must not run any more."
      )
    } else {
      Console.say("This machine has its own identity: pair it with the others (`hpeer pair`).")
    }
    for folder in result.keptIn {
      Console.say("What was here before is in \(PlainText.escaped(folder, limit: 4_096)).")
    }
    if !result.redelivered.isEmpty {
      let names = result.redelivered.map { PlainText.escaped($0, limit: 60) }.joined(separator: ", ")
      Console.say(
        "Destinations may have what came after the backup: the next delivery gives the whole record again to \(names).")
    }
    if let restoration = result.restoration { RestorationText.sayWaiting(restoration) }
  }

  /// Asks a person to approve what a backup brings. Anyone who knows a public key can have made the backup for it.
  private static func review(_ powers: RestoredPermissions, yes: Bool) async throws -> Bool {
    let parts = [
      ("programs that are run", powers.programs), ("destinations", powers.destinations),
      ("machines that may read the record", powers.clients), ("machines that are pulled from", powers.servers),
      ("apps that may send", powers.senders),
    ]
    for (what, names) in parts where !names.isEmpty {
      Console.say(
        "The backup brings \(what): \(names.map { PlainText.escaped($0, limit: 200) }.joined(separator: "; ")).")
    }
    if yes { return true }
    return try await Prompt.confirm(
      "Did you make this backup, and is all that it brings yours? (--new-identity takes the record alone)")
  }

  /// Asks whether the machine that was backed up still runs. Others would take two machines with one identity for the
  /// same, and talk now to one, now to the other.
  private func askAboutOther() async throws {
    guard Console.isInteractive else {
      throw CommandFailure(
        .usage,
        "Does the machine that was backed up still run? Use --yes if it does not, or --new-identity if both will run."
      )
    }
    guard try await Prompt.confirm("Is the machine that this backup was made on switched off for good?")
    else {
      throw CommandFailure(
        .interrupted,
        "Nothing was restored. If both machines will run, give this one its own identity with --new-identity.")
    }
  }
}

/// The messages about a restored machine that waits for its peers.
enum RestorationText {
  static func sayWaiting(_ restoration: Restoration) {
    Console.warn(
      "this machine was restored from a backup of \(restoration.made.formatted(.iso8601)), and what was deleted since would "
        + "be there again: paired machines get no answer yet.",
      JournalFields(.serverLocked))
    for server in restoration.servers {
      let name = PlainText.escaped(server.name, limit: 100)
      Console.say("  \(name) may know of deletions: `hpeer pull \(server.id.short)` or `hpeer run` asks it.")
    }
    for client in restoration.clients {
      let name = PlainText.escaped(client.name, limit: 100)
      Console.say("  \(name) may know: run `hpeer serve` there, and `hpeer pair` and `hpeer pull` here.")
    }
    Console.say("Where nothing was deleted, or none of them is there any more: `hpeer unlock`, or `hpeer serve --now`.")
  }
}
