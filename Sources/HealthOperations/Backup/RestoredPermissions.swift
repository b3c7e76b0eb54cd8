import Destinations
import Foundation
import OperatingSystem
import PeerTrust

/// The content of a complete backup, beside the record and the identity, that lets others act on this machine or read
/// the record. Anyone who has a recipient's public key can make such a backup, so a person must review it.
public struct RestoredPermissions: Hashable, Sendable {
  /// The automations and destinations that run a program, each with its arguments and environment.
  public var programs: [String] = []
  /// The destinations of the record: the name and kind of each, with its command, URL or path if it has one.
  public var destinations: [String] = []
  /// The names of the machines that may read the record.
  public var clients: [String] = []
  /// The names of the servers that this machine pulls from, including deletions.
  public var servers: [String] = []
  /// The names of the apps that may send to the inbox.
  public var senders: [String] = []

  /// Reads a backup that was unpacked into a folder. Throws ``PeerRegistryError``.
  init(in folder: String) async throws {
    do {
      try await add(settingsAt: "\(folder)/\(BackupLayout.settings)")
    } catch is SettingsFileError {
      // A later version may understand settings that this version does not.
      programs.append("whatever is in \(BackupLayout.settings), which cannot be read")
    }
    let registry = try await PeerRegistry.inspect(in: URL(filePath: folder, directoryHint: .isDirectory))
    clients = registry?.clients.filter { $0.revoked == nil }.map(\.name) ?? []
    servers = registry?.servers.map(\.name) ?? []
    senders = registry?.inboxSenders ?? []
  }

  private mutating func add(settingsAt path: String) async throws {
    let found = try await onThread { _ -> (automations: [Automation], sections: [DestinationSection]) in
      guard PrivateFile.exists(path) else { return ([], []) }
      let settings = try SettingsFile(
        bytes: try PrivateFile.read(path, limit: SettingsFile.longest + 1).bytes, path: path)
      return (try Automation.all(in: settings), settings.destinations)
    }
    for automation in found.automations {
      if case .backup(let kept) = automation.action {
        let readers = kept.recipients.isEmpty ? "with a passphrase" : "for \(kept.recipients.joined(separator: ", "))"
        destinations.append("\(automation.name) (backup to \(kept.folder), \(readers))")
      }
      guard case .command(let program) = automation.action else { continue }
      let environment = program.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      programs.append("\(automation.name): \((environment + program.words).joined(separator: " "))")
    }
    for section in found.sections {
      let (kind, settings) = (section.kind.description.kind, section.settings)
      let words = settings.has("command") ? settings.list("command").joined(separator: " ") : nil
      let bucket = settings.optionalText("bucket").map { bucket in
        [settings.optionalText("endpoint"), bucket].compactMap(\.self).joined(separator: " ")
      }
      let address = words ?? settings.optionalText("url") ?? settings.optionalText("path") ?? bucket
      let text = "\(section.name) (\(kind.rawValue)\(address.map { " \($0)" } ?? ""))"
      if kind == DestinationKind("command") { programs.append(text) } else { destinations.append(text) }
    }
  }
}
