import AgeEncryption
import Destinations
import Foundation
import OperatingSystem

/// An action that an automation runs.
public enum AutomationAction: Hashable, Sendable {
  /// Delivers changes to destinations.
  case deliver([String])
  /// Pulls from servers, or from all if the list is empty.
  case pull([String])
  /// Imports a file or folder.
  ///
  /// - Parameter path: `nil` for the file that triggered the automation.
  case `import`(path: String?)
  /// Makes a backup in a folder and keeps the newest.
  case backup(BackupRotation)
  /// Runs a program.
  case command(Program)

  /// A program and how it is run.
  public struct Program: Hashable, Sendable {
    /// The program and its arguments; never empty.
    public var words: [String]
    /// Additional environment variables.
    public var environment: [String: String]
    /// The time after which the program is killed.
    public var timeout: Duration
  }

  /// The kinds of actions, with their names in the settings file.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Delivering to destinations.
    case deliver
    /// Pulling from machines.
    case pull
    /// Importing a file or folder.
    case `import`
    /// Making a backup in a folder.
    case backup
    /// Running a program.
    case command

    /// A description for people.
    public var summary: String {
      switch self {
      case .deliver: "delivers what is new to destinations, and only then"
      case .pull: "pulls from paired machines, and only then"
      case .import: "imports a file or a folder"
      case .backup: "makes an encrypted backup in a folder, and keeps the newest"
      case .command: "runs a program; what happened comes on its standard input, a line of JSON"
      }
    }

    /// Returns the settings for this kind of action.
    ///
    /// - Parameter trigger: the kind of event that the automation waits for.
    public func fields(after trigger: AutomationTrigger.Kind) -> [SettingField] {
      switch self {
      case .deliver: [SettingField("destinations", .list, "The names of destinations.", required: true)]
      case .pull: [SettingField("peers", .list, "The names of machines in `hpeer peers`; all by default.")]
      case .import where trigger == .file: []
      case .import: [SettingField("path", .path, "The file or folder; ~ is this user's home.", required: true)]
      case .backup:
        [
          SettingField("folder", .path, "The folder for the backups; ~ is this user's home.", required: true),
          SettingField("recipients", .list, "Public keys of age (age1...) that can open them."),
          SettingField(
            "passphrase-file", .path, "A file whose first line is the passphrase, in place of recipients.", asked: true),
          SettingField("keep", .integer(1...10_000), "How many are kept.", default: "7"),
        ]
      case .command:
        [
          SettingField(
            "command", .list, "The program and its arguments, not through a shell: [\"/usr/local/bin/notify\"].",
            required: true),
          SettingField("environment", .table, "More variables of its environment."),
          SettingField("timeout", .text, "After how long it is killed.", default: "10m"),
        ]
      }
    }
  }

  init(
    _ kind: Kind, after trigger: AutomationTrigger.Kind, _ settings: DestinationSettings, destinations: [String]
  ) throws(SettingsError) {
    switch kind {
    case .deliver:
      let names = settings.list("destinations")
      guard !names.isEmpty else { throw SettingsError("destinations", .invalid("names no destination")) }
      if let other = names.first(where: { !destinations.contains($0) }) {
        let known = destinations.isEmpty ? "there is none yet" : "there are \(destinations.joined(separator: ", "))"
        throw SettingsError("destinations", .invalid("has no destination called \(other): \(known)"))
      }
      self = .deliver(names)
    case .pull: self = .pull(settings.list("peers"))
    case .import: self = .import(path: trigger == .file ? nil : UserPath.absolute(try settings.text("path")))
    case .backup:
      let (recipients, file) = (settings.list("recipients"), settings.optionalText("passphrase-file"))
      guard recipients.isEmpty != (file == nil) else {
        throw SettingsError("recipients", .invalid("and passphrase-file: give one of them"))
      }
      for recipient in recipients {
        guard (try? AgeRecipient(recipient)) != nil else {
          throw SettingsError("recipients", .invalid("has \(recipient), which is no public key of age (age1...)"))
        }
      }
      self = .backup(
        BackupRotation(
          folder: UserPath.absolute(try settings.text("folder")), recipients: recipients,
          passphraseFile: file.map(UserPath.absolute), count: try settings.integer("keep")))
    case .command:
      let words = settings.list("command")
      guard let first = words.first, !first.isEmpty else {
        throw SettingsError("command", .invalid("names no program"))
      }
      guard words.allSatisfy({ !$0.utf8.contains(0) }) else {
        throw SettingsError("command", .invalid("has a NUL in it"))
      }
      self = .command(
        Program(
          words: words, environment: settings.table("environment"),
          timeout: .seconds(try TimeSpan.seconds(settings, "timeout", in: 1...7 * 86_400))))
    }
  }

  var kind: Kind {
    switch self {
    case .deliver: .deliver
    case .pull: .pull
    case .import: .import
    case .backup: .backup
    case .command: .command
    }
  }
}

extension AutomationAction: CustomStringConvertible {
  /// A short description: `deliver to bucket`, `run notify`.
  public var description: String {
    switch self {
    case .deliver(let names): "deliver to \(names.joined(separator: ", "))"
    case .pull(let names): names.isEmpty ? "pull from all" : "pull from \(names.joined(separator: ", "))"
    case .import(let path): path.map { "import \($0)" } ?? "import it"
    case .backup(let kept): "back up to \(kept.folder)"
    case .command(let program): "run \(program.words.first.map { ($0 as NSString).lastPathComponent } ?? "")"
    }
  }
}
