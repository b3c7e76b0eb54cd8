import AgeEncryption
import ArgumentParser
import BackupArchive
import Foundation
import HealthOperations
import OperatingSystem
import Terminal

/// The options that name what opens a backup. Secrets are never arguments, which every user of a machine can read.
struct BackupKeyOptions: ParsableArguments {
  @Option(help: "A file with the keys of age, as `age-keygen` writes it.", completion: .file())
  var identityFile: String?
  @Option(help: "A file whose first line is the passphrase.", completion: .file())
  var passphraseFile: String?

  var isGiven: Bool { identityFile != nil || passphraseFile != nil }

  /// Returns the keys that open the backup at `path`. Asks for a passphrase if none is given.
  func keys(for path: String) async throws -> [AgeKey] {
    switch try await protection(of: path) {
    case .none: return []
    case .key:
      guard let identityFile else { throw AgeError.needsKey }
      return try AgeKey.all(in: try BackupSecrets.text(of: identityFile))
    case .passphrase:
      if let passphraseFile { return [.passphrase(try BackupSecrets.passphrase(in: passphraseFile))] }
      return [.passphrase(try await Prompt.readSecret(prompt: "Passphrase of the backup: "))]
    }
  }

  private func protection(of path: String) async throws -> BackupReader.Protection {
    do {
      return try await onThread { _ in try BackupVerification.protection(of: path) }
    } catch let error as SystemError where error.path == path {
      throw CommandFailure(
        .badInput,
        "\(PlainText.escaped(path, limit: 4_096)) cannot be read (\(error.reason)): name a file that `hpeer backup` has written."
      )
    }
  }
}

enum BackupSecrets {
  /// Returns the first line of the file at `path`.
  static func passphrase(in path: String) throws -> String {
    guard let passphrase = PassphraseFile.passphrase(in: try text(of: path)) else {
      throw CommandFailure(
        .usage, "\(PlainText.escaped(path, limit: 4_096)) has no passphrase: its first line must be one.")
    }
    return passphrase
  }

  /// Asks for a new passphrase, twice.
  static func newPassphrase() async throws -> String {
    for _ in 0..<3 {
      let passphrase = try await Prompt.readSecret(prompt: "New passphrase of the backup: ")
      if let weakness = weakness(of: passphrase) {
        Console.say(weakness)
        continue
      }
      if try await Prompt.readSecret(prompt: "The same again: ") == passphrase { return passphrase }
      Console.say("The two are not the same.")
    }
    throw CommandFailure(
      .usage, "There is no passphrase, so nothing was written: run this again, or give a --recipient.")
  }

  private static let shortest = 10

  /// Returns why a passphrase protects nothing; `nil` if it may. A person who has the file can try as many as they
  /// like.
  static func weakness(of passphrase: String) -> String? {
    if passphrase.isEmpty {
      return "An empty passphrase protects nothing: give one, a --recipient, or --unencrypted for the record alone."
    }
    guard passphrase.count >= shortest, Set(passphrase).count >= shortest / 2 else {
      return
        "A finder of the file can try passphrases for years: take at least \(shortest) characters, such as four words."
    }
    return nil
  }

  static func text(of path: String) throws -> String {
    switch FileContents(path: path) {
    case .text(let text): return text
    case .absent: throw CommandFailure(.usage, "There is no file \(PlainText.escaped(path, limit: 4_096)).")
    case .unreadable: throw CommandFailure(.usage, "\(PlainText.escaped(path, limit: 4_096)) cannot be read.")
    }
  }
}
