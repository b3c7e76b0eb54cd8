import Destinations
import Foundation

/// The harness of the destination `folder`, with a local folder.
struct FolderHarness: DestinationHarness {
  typealias Place = FolderDestination

  static func start() -> Self { Self() }

  /// `false`, because other programs may write files with the same names.
  var forgets: Bool { false }

  func settings(_ place: HarnessPlace) -> [String: DestinationSettings.Value] {
    ["path": .text(place.folder), "prefix": .text("p"), "whole-samples": .boolean(false)]
  }

  /// Returns the records in all files, and as separate entries the files that are neither data nor manifest.
  func contents(of place: HarnessPlace) throws -> [String] {
    var found: [String] = []
    let files = FileManager.default.enumerator(atPath: place.folder)?.compactMap { $0 as? String } ?? []
    for file in files {
      var isFolder: ObjCBool = false
      let path = "\(place.folder)/\(file)"
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else { continue }
      switch file.split(separator: "/").last {
      case "_manifest.json": continue
      case let name? where name.hasPrefix("_hpeer-"): continue
      case "data.jsonl":
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
          let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
          if record?["deleted"] as? Bool != true { found.append(record?["uuid"] as? String ?? String(line)) }
        }
      default: found.append(file)
      }
    }
    return found
  }

  /// Restores an older copy from before the first delivery: the folder is recognized, but empty.
  func loseAll(at place: HarnessPlace) throws -> Bool {
    let folder = "\(place.folder)/p/v1"
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
    return true
  }
}
