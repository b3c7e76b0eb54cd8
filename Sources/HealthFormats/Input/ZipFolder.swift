import HealthModel

/// The files beside the XML of an export in a zip file.
final class ZipFolder: ExportFolder {
  private let archive: ZipArchive
  private let entries: [ZipArchive.Entry]
  let members: [ExportMember]

  /// Opens the archive and lists the files beside an entry.
  ///
  /// - Parameter index: the index of the XML.
  init(path: String, beside index: UInt64) throws(ImportError) {
    archive = try ZipArchive(path: path)
    entries = try archive.entries()
    guard let name = entries.first(where: { $0.index == index })?.name else { throw .changedWhileReading(path: path) }
    members = Self.members(
      beside: name,
      among: entries.enumerated().compactMap { position, entry in
        entry.index == index ? nil : (entry.name, entry.size, position)
      })
  }

  /// Returns the files in the folder of `xml` and below.
  static func members(beside xml: String, among files: [(name: String, size: Int64, index: Int)]) -> [ExportMember] {
    let folder = xml.parts(separatedBy: "/", omittingEmptySubsequences: false).dropLast().map { $0 + "/" }.joined()
    var members: [ExportMember] = []
    for file in files where file.name.begins(with: folder) {
      let rest = String(Substring(file.name.utf8.dropFirst(folder.utf8.count)))
      let parts = rest.parts(separatedBy: "/", omittingEmptySubsequences: false)
      // Ignore names that lead out of the folder, and files that macOS adds.
      if parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." || $0 == "__MACOSX" || $0.begins(with: "._") }) {
        continue
      }
      members.append(ExportMember(name: rest, size: file.size, index: file.index))
    }
    return members.sorted { $0.name < $1.name }
  }

  func source(of member: ExportMember) throws(ImportError) -> any ByteSource {
    guard entries.indices.contains(member.index) else { throw .noSuchFile(path: "\(archive.path): \(member.name)") }
    return try archive.source(of: entries[member.index])
  }
}
