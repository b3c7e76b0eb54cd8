import Foundation

/// The files beside the XML in an unpacked export.
final class DirectoryFolder: ExportFolder {
  /// The folders of an export that have files of their own. Whatever else lies beside an XML is none of ours.
  private static let folders = ["clinical-records", "electrocardiograms", "workout-routes"]

  private let path: String
  let members: [ExportMember]

  /// - Parameter xml: the path of the XML.
  init(beside xml: String) throws(ImportError) {
    path = xml.contains("/") ? (xml as NSString).deletingLastPathComponent : "."
    var members: [ExportMember] = []
    for folder in Self.folders {
      // An export has these folders only where it has something to put there.
      guard DirectoryListing.kind(of: "\(path)/\(folder)") == .folder else { continue }
      for name in try DirectoryListing.names(in: "\(path)/\(folder)").sorted() where !name.hasPrefix("._") {
        guard case .file(let size) = DirectoryListing.kind(of: "\(path)/\(folder)/\(name)") else { continue }
        members.append(ExportMember(name: "\(folder)/\(name)", size: size, index: members.count))
      }
    }
    self.members = members
  }

  func source(of member: ExportMember) throws(ImportError) -> any ByteSource {
    guard members.contains(member) else { throw .noSuchFile(path: "\(path)/\(member.name)") }
    let file = "\(path)/\(member.name)"
    return SizedSource(try FileSource(path: file, followsLinks: false), path: file, size: member.size)
  }
}
