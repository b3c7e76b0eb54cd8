import BackupArchive
import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust

/// Which files of a home are in a backup, by their names there, and where each belongs.
struct BackupLayout {
  static let settings = "config.toml"
  /// Folders of ``Home/directory`` that are kept whole.
  private static let folders = ["identity", "inbox", "destinations"]
  /// The folder of ``Home/configuration``.
  private static let secrets = "secrets"

  let home: Home

  /// Where a file of a backup belongs; `nil` for one that belongs nowhere.
  func place(of name: String) -> String? {
    if name == HealthStore.fileName || name == PeerRegistry.fileName { return "\(home.directory)/\(name)" }
    if name == Self.settings { return home.settingsPath }
    guard let slash = name.firstIndex(of: "/") else { return nil }
    let folder = String(name[..<slash])
    if Self.folders.contains(folder) { return "\(home.directory)/\(name)" }
    return folder == Self.secrets ? "\(home.configuration)/\(name)" : nil
  }

  /// Throws `BackupError` for a backup that holds what one of its kind may not. Anybody can have written one that is not
  /// encrypted: it holds the record and nothing else, whatever its manifest says.
  static func requireAllowed(_ manifest: BackupManifest, _ protection: BackupReader.Protection) throws(BackupError) {
    guard protection == .none || manifest.contents == .record else { return }
    if let file = manifest.files.first(where: { $0.name != HealthStore.fileName }) {
      throw .unexpected(file: file.name.shortened(toBytes: 200))
    }
    guard manifest.contents == .record else { throw .damaged("it says that it is not the record alone") }
  }

  /// The files that are there beside the databases. Blocking.
  func files() -> [(name: String, path: String)] {
    var files: [(name: String, path: String)] = []
    let settings = HomeDirectory.resolved(home.settingsPath)
    if PrivateFile.exists(settings) { files.append((Self.settings, settings)) }
    for (folder, root) in Self.folders.map({ ($0, home.directory) }) + [(Self.secrets, home.configuration)] {
      files += Self.regularFiles(in: "\(root)/\(folder)").map { ("\(folder)/\($0)", "\(root)/\(folder)/\($0)") }
    }
    return files
  }

  /// Nothing behind links, and nothing that was being written when its process ended.
  private static func regularFiles(in folder: String) -> [String] {
    guard !PrivateFile.isLink(folder), let names = try? FileManager.default.subpathsOfDirectory(atPath: folder) else {
      return []
    }
    return names.sorted().filter { name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      return attributes?[.type] as? FileAttributeType == .typeRegular && !name.utf8.ends(with: ".new".utf8)
    }
  }

  /// Whatever a restored home would take the place of, so far as it is there: paths of files and folders.
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

  /// The paths of ``occupied(by:)`` without what commands make that were only tried: an unused registry, its identity, and a store
  /// that never had a sample.
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
