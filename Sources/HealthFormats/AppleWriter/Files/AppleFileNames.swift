/// The names of the files beside the XML of an export: where they had one, that again, so that the XML says the same.
package struct AppleFileNames: Sendable {
  /// The folders of Apple's export, and how the files in them end.
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

  /// As ``SideFiles/key(_:)`` has them.
  private var used: Set<String> = []

  package init() {}

  /// The name of the file that the XML calls `path`, relative to the XML's folder; `nil` for a path that leads elsewhere, or
  /// that another file has. From now on, no other has it.
  ///
  /// - Parameter folder: where it has to be; `nil` for anywhere but where a reader would take it for something else.
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

  /// A name that no other file has.
  ///
  /// - Parameter stem: how it begins; what cannot be in a name of a file is left out.
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
