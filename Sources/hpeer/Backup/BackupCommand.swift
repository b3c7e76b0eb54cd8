import AgeEncryption
import ArgumentParser
import BackupArchive
import Foundation
import HealthOperations
import OperatingSystem
import Terminal

struct BackupCommand: AsyncParsableCommand, DefaultSubcommandTakesArguments {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Write everything that this machine holds into one encrypted file.",
    discussion: """
      The record, the identity, paired machines, settings and secrets, as they are at one moment, while all goes on. The \
      file is a tar file (zstd) that age encrypts, to a passphrase that is asked for or to recipients: without hpeer, \
      `age -d FILE | zstd -d | tar -x` opens it. With --unencrypted it holds the record alone, and everybody who has the \
      file can read that.

      Examples:
        hpeer backup health.tar.zst.age
        hpeer backup nightly.age \\
          --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
        hpeer backup --passphrase-file passphrase - | ssh nas 'cat > hpeer.age'
        hpeer backup --unencrypted record.tar.zst
        hpeer backup verify health.tar.zst.age
      """,
    subcommands: [BackupCreate.self, BackupVerify.self],
    defaultSubcommand: BackupCreate.self)
}

struct BackupCreate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Write a backup (what `hpeer backup FILE` does).",
    discussion: """
      Examples:
        hpeer backup create health.tar.zst.age
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Option(help: "Encrypt to this public key of age (age1...); may be given several times.")
  var recipient: [String] = []
  @Option(
    help: "Encrypt to the first line of this file instead of a passphrase that is asked for.", completion: .file())
  var passphraseFile: String?
  @Flag(help: "Write the record alone, for everybody to read: no identity, no tokens, no settings, no secrets.")
  var unencrypted = false
  @Flag(help: "Overwrite an existing file.")
  var force = false
  @Argument(help: "The file to write, or - for standard output.", completion: .file())
  var file: String

  func validate() throws {
    let ways = [!recipient.isEmpty, passphraseFile != nil, unencrypted].count { $0 }
    guard ways <= 1 else { throw ValidationError("Give --recipient, --passphrase-file or --unencrypted, not several.") }
    if file.isEmpty { throw ValidationError("Name the file to write, or - for standard output.") }
    if file == "-", output.json {
      throw ValidationError("With --json, standard output cannot hold the backup: name a file.")
    }
  }

  struct Report: Encodable {
    var file: String
    var bytes: Int
    var contents: String
    var created: Date
    var samples: Int
    var deleted: Int
    var digest: String
  }

  func run() async throws {
    let isFile = file != "-"
    if !isFile {
      if Console.capabilities.isTerminal(.output) {
        throw ValidationError("Name a file, or send standard output somewhere: a terminal shows no backup.")
      }
      try OutputWriter.standardOutput.requireOpen()
    }
    if isFile { try requirePlace() }
    let recipients = try await recipients()
    let operation = BackupOperation(
      common.homeDirectory, for: recipients, program: Hpeer.version, spareFolder: BackupPlaces.temporary,
      progress: ProgressBars())
    let destination: BackupDestination = isFile ? .file(path: file, replaces: force) : .stream(BackupOutput())
    let summary = try await interruptible("no backup was written.") { try await operation.run(to: destination) }
    let record = summary.manifest.record
    if output.json {
      return try Console.print(
        json: Report(
          file: file, bytes: summary.bytes, contents: summary.manifest.contents.rawValue,
          created: summary.manifest.created, samples: record.samples, deleted: record.deleted, digest: record.digest))
    }
    let what =
      unencrypted
      ? "the record alone, not encrypted, without identity, paired machines, settings and secrets"
      : "everything, encrypted"
    Console.say(
      "Backed up \(HumanFormat.count(record.samples, "sample"))\(isFile ? " to \(PlainText.escaped(file, limit: 4_096))" : "") "
        + "(\(HumanFormat.bytes(summary.bytes))): \(what).")
    if isFile { Console.say("`hpeer backup verify \(ShellWord.quoted(file))` reads all of it.") }
  }

  /// Checks, before anything is asked, that the folder is there and that no file would be lost.
  private func requirePlace() throws {
    var isFolder: ObjCBool = false
    let shown = PlainText.escaped(file, limit: 4_096)
    if FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) {
      if isFolder.boolValue { throw CommandFailure(.usage, "\(shown) is a folder: name a file in it.") }
      if !force { throw ExportError.alreadyThere(path: file) }
    }
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw CommandFailure(
        .other,
        "There is no folder \(PlainText.escaped(folder, limit: 4_096)) for the backup: make it, or name another.")
    }
  }

  private func recipients() async throws -> [AgeRecipient] {
    if unencrypted { return [] }
    if !recipient.isEmpty { return try recipient.map { text throws(AgeError) in try AgeRecipient(text) } }
    if let passphraseFile { return [.passphrase(try BackupSecrets.passphrase(in: passphraseFile))] }
    return [.passphrase(try await BackupSecrets.newPassphrase())]
  }
}

private enum BackupPlaces {
  /// The folder for temporary copies of a record.
  static var temporary: String {
    ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/var/tmp"
  }
}

private struct BackupOutput: ExportSink {
  func write(_ bytes: [UInt8]) throws { try OutputWriter.standardOutput.write(bytes) }
  func finish() {}
  func discard() {}
}

struct BackupVerify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read a backup to its end, and check everything in it.",
    discussion: """
      Compares each file with its checksum, opens the record in a folder of its own (in TMPDIR, or /var/tmp, with room for \
      it), checks that it is sound, and compares its digest. Changes nothing.

      Examples:
        hpeer backup verify health.tar.zst.age
        hpeer backup verify --identity-file key.txt --json nightly.age
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var opening: BackupKeyOptions
  @Argument(help: "The backup.", completion: .file())
  var file: String

  private struct Report: Encodable {
    var sound: Bool
    var created: Date
    var program: String
    var contents: String
    var encrypted: Bool
    var samples: Int
    var deleted: Int
    var digest: String
    var files: [String]
  }

  func run() async throws {
    let keys = try await opening.keys(for: file)
    let verification = BackupVerification(file, keys: keys, progress: ProgressBars())
    let manifest = try await interruptible("the backup was not read to its end.") {
      try await verification.run(in: BackupPlaces.temporary)
    }
    if output.json {
      return try Console.print(
        json: Report(
          sound: true, created: manifest.created, program: manifest.program, contents: manifest.contents.rawValue,
          encrypted: !keys.isEmpty, samples: manifest.record.samples, deleted: manifest.record.deleted,
          digest: manifest.record.digest, files: manifest.files.map(\.name)))
    }
    try Console.print(
      "Sound: \(HumanFormat.count(manifest.record.samples, "sample")) of \(manifest.created.formatted(.iso8601)), "
        + (manifest.contents == .everything
          ? "with identity, paired machines, settings and secrets"
          : "the record alone\(keys.isEmpty ? ", not encrypted" : "")") + ".")
  }
}
