/// The names of the files beside the XML of an export, each used once. A file keeps the name it had, so that the XML
/// stays the same.
package struct AppleFileNames: Sendable {
  /// A folder of Apple's export.
  package enum Folder: String, Sendable, CaseIterable {
    case routes = "workout-routes"
    case electrocardiograms
    case clinicalRecords = "clinical-records"

    var ending: String {
      switch self {
      case .routes: ".gpx"
      case .electrocardiograms: ".csv"
      case .clinicalRecords: ".json"
      }
    }
  }

  private static let longestName = 200

  /// The names in use, in the form of ``SideFiles/key(_:)``.
  private var used: Set<String> = []

  package init() {}

  /// Reserves the name that the XML has for a file.
  ///
  /// - Parameters:
  ///   - path: the path in the XML.
  ///   - folder: the folder in which the file must be; `nil` for any folder that a reader does not read for another
  ///     purpose.
  /// - Returns: the name relative to the XML's folder; `nil` for a path outside this folder, or one that another file
  ///   has.
  package mutating func claim(_ path: String, in folder: Folder?) -> String? {
    let name = path.utf8.first == UInt8(ascii: "/") ? String(Substring(path.utf8.dropFirst())) : path
    let parts = name.parts(separatedBy: "/", omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.count <= Self.longestName && part.utf8.first != UInt8(ascii: ".") && part != "__MACOSX"
        && part.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: ":") }
    }
    guard isPlain, let key = SideFiles.key(name) else { return nil }
    if let folder {
      guard parts.count == 2, parts[0] == folder.rawValue, key.ends(with: folder.ending) else { return nil }
    } else {
      let others = Folder.allCases.map(\.rawValue)
      guard (2...4).contains(parts.count), !key.ends(with: ".xml"), !others.contains(parts[0].lowercased()) else {
        return nil
      }
    }
    return used.insert(key).inserted ? name : nil
  }

  /// Reserves and returns a new name.
  ///
  /// - Parameter stem: the beginning of the name. Characters that are not allowed in file names are left out.
  package mutating func make(_ stem: String, in folder: Folder) -> String {
    let plain = stem.unicodeScalars.filter {
      $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "-_.".unicodeScalars.contains($0))
    }
    let stem = String(String.UnicodeScalarView(plain.prefix(Self.longestName / 2)))
    var number = 0
    while true {
      let name = "\(folder.rawValue)/\(stem)\(number == 0 ? "" : "_\(number)")\(folder.ending)"
      if used.insert(name.lowercased()).inserted { return name }
      number += 1
    }
  }
}
