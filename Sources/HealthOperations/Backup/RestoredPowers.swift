import Destinations
import Foundation
import OperatingSystem
import PeerTrust

/// What a backup brings beside the record that can do something on this machine, or read the record from elsewhere. Who has a
/// recipient's public key can make a backup for it, and put in what he likes.
public struct RestoredPowers: Hashable, Sendable {
  /// Automations and destinations that run a program, each with its words.
  public var programs: [String] = []
  /// Where else the record is delivered to, by the names of destinations.
  public var destinations: [String] = []
  /// The names of machines and inbox senders that are let in.
  public var clients: [String] = []

  /// Whether there is nothing to ask about.
  public var isEmpty: Bool { programs.isEmpty && destinations.isEmpty && clients.isEmpty }

  /// Of a backup that was unpacked into a folder. Throws ``PeerRegistryError``.
  init(in folder: String) async throws {
    do {
      try await add(settingsAt: "\(folder)/\(BackupLayout.settings)")
    } catch is SettingsFileError {
      // A later version may read what this one does not.
      programs.append("whatever is in \(BackupLayout.settings), which cannot be read")
    }
    let registry = try await PeerRegistry.inspect(in: URL(filePath: folder, directoryHint: .isDirectory))
    clients = registry?.clients.filter { $0.revoked == nil }.map(\.name) ?? []
  }

  private mutating func add(settingsAt path: String) async throws {
    let found = try await onThread { _ -> (automations: [Automation], sections: [DestinationSection]) in
      guard PrivateFile.exists(path) else { return ([], []) }
      let settings = try SettingsFile(
        bytes: try PrivateFile.read(path, limit: SettingsFile.longest + 1).bytes, path: path)
      return (try Automation.all(in: settings), settings.destinations)
    }
    for automation in found.automations {
      guard case .command(let program) = automation.action else { continue }
      programs.append("\(automation.name): \(program.words.joined(separator: " "))")
    }
    for section in found.sections {
      if section.kind.description.kind == DestinationKind("command") {
        programs.append("the destination \(section.name)")
      } else {
        destinations.append(section.name)
      }
    }
  }
}
