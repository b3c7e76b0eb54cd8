/// The files beside the XML in a zip file that was cut off: those that are whole.
final class SalvagedFolder: ExportFolder {
  private let path: String
  private let entries: [ZipSalvage.Entry]
  let members: [ExportMember]

  init(path: String, beside xml: ZipSalvage.Entry) throws(ImportError) {
    self.path = path
    entries = try ZipSalvage.contents(of: path).entries
    members = ZipFolder.members(
      beside: xml.name,
      among: entries.enumerated().compactMap { index, entry in
        entry.isWhole && entry.start != xml.start ? (entry.name, entry.size, index) : nil
      })
  }

  func source(of member: ExportMember) throws(ImportError) -> any ByteSource {
    guard entries.indices.contains(member.index) else { throw .noSuchFile(path: "\(path): \(member.name)") }
    return try ZipSalvage.source(of: entries[member.index], path: path)
  }
}
