import BackupArchive
import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust

/// The files of a home that belong in a backup: their names there, and their paths.
struct BackupLayout {
  static let settings = "config.toml"
  /// The complete folders of ``Home/directory`` in a backup.
  private static let folders = ["identity", "inbox", "destinations"]
  /// The folder of ``Home/configuration`` in a backup.
  private static let secrets = "secrets"

  let home: Home

  /// Returns the path of a file of a backup, or `nil` if the name is unknown.
  func place(of name: String) -> String? {
    if name == HealthStore.fileName || name == PeerRegistry.fileName { return "\(home.directory)/\(name)" }
    if name == Self.settings { return home.settingsPath }
    guard let slash = name.firstIndex(of: "/") else { return nil }
    let folder = String(name[..<slash])
    if Self.folders.contains(folder) { return "\(home.directory)/\(name)" }
    return folder == Self.secrets ? "\(home.configuration)/\(name)" : nil
  }

  /// Throws `BackupError` for a backup with content that its kind may not have. An unencrypted backup may have been
  /// made by anyone, so it may hold the record only, whatever its manifest says.
  static func requireAllowed(_ manifest: BackupManifest, _ protection: BackupReader.Protection) throws(BackupError) {
    guard protection == .none || manifest.contents == .record else { return }
    if let file = manifest.files.first(where: { $0.name != HealthStore.fileName }) {
      throw .unexpected(file: file.name.shortened(toBytes: 200))
    }
    guard manifest.contents == .record else { throw .damaged("it says that it is not the record alone") }
  }

  /// Returns the existing files other than the databases. Blocking.
  func files() -> [(name: String, path: String)] {
    var files: [(name: String, path: String)] = []
    let settings = HomeDirectory.resolved(home.settingsPath)
    if PrivateFile.exists(settings) { files.append((Self.settings, settings)) }
    for (folder, root) in Self.folders.map({ ($0, home.directory) }) + [(Self.secrets, home.configuration)] {
      files += Self.regularFiles(in: "\(root)/\(folder)").map { ("\(folder)/\($0)", "\(root)/\(folder)/\($0)") }
    }
    return files
  }

  /// Returns the regular files in a folder, without symbolic links and temporary files of killed processes.
  private static func regularFiles(in folder: String) -> [String] {
    guard !PrivateFile.isLink(folder), let names = try? FileManager.default.subpathsOfDirectory(atPath: folder) else {
      return []
    }
    return names.sorted().filter { name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      return attributes?[.type] as? FileAttributeType == .typeRegular && !name.utf8.ends(with: ".new".utf8)
    }
  }

  /// Returns the existing files and folders that a restoration would replace.
  func occupied(by names: [String]) -> [String] {
    var paths: Set<String> = []
    for name in names {
      guard let place = place(of: name) else { continue }
      if let slash = name.firstIndex(of: "/") {
        paths.insert(String(place.dropLast(name[slash...].count)))
      } else {
        paths.insert(place)
      }
    }
    return paths.filter(PrivateFile.exists).sorted()
  }

  /// Returns the paths of ``occupied(by:)`` that are in use. Left out are an unused registry with its identity, and a
  /// store that never had a sample, because commands create these when they are merely tried.
  ///
  /// - Parameter isUnpaired: see ``PeerRegistry/isUnused(in:)``.
  func inUse(by names: [String], isUnpaired: Bool) -> [String] {
    occupied(by: names).filter { path in
      switch (path as NSString).lastPathComponent {
      case PeerRegistry.fileName, "identity": !isUnpaired
      case HealthStore.fileName: (try? HealthStore.types(directory: home.directory).isEmpty) != true
      default: true
      }
    }
  }
}

extension Collection<UInt8> {
  fileprivate func ends(with suffix: some Collection<UInt8>) -> Bool { self.suffix(suffix.count).elementsEqual(suffix) }
}
