/// The files beside the XML in a zip file.
final class ZipFolder: ExportFolder {
  private let archive: ZipArchive
  private let entries: [ZipArchive.Entry]
  let members: [ExportMember]

  /// - Parameter index: of the XML.
  init(path: String, beside index: UInt64) throws(ImportError) {
    archive = try ZipArchive(path: path)
    entries = try archive.entries()
    guard let name = entries.first(where: { $0.index == index })?.name else { throw .changedWhileReading(path: path) }
    let folder = name.split(separator: "/", omittingEmptySubsequences: false).dropLast().map { $0 + "/" }.joined()
    var members: [ExportMember] = []
    for (position, entry) in entries.enumerated() where entry.index != index && entry.name.hasPrefix(folder) {
      let rest = String(entry.name.dropFirst(folder.count))
      let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
      // Names that lead elsewhere name nothing here, and what macOS adds is no part of the export.
      if parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." || $0 == "__MACOSX" || $0.hasPrefix("._") }) {
        continue
      }
      members.append(ExportMember(name: rest, size: entry.size, index: position))
    }
    self.members = members.sorted { $0.name < $1.name }
  }

  func source(of member: ExportMember) throws(ImportError) -> any ByteSource {
    guard entries.indices.contains(member.index) else { throw .noSuchFile(path: "\(archive.path): \(member.name)") }
    return try archive.source(of: entries[member.index])
  }
}
