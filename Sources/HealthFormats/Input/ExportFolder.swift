import Foundation

/// A file beside the XML of an export.
struct ExportMember: Sendable, Equatable {
  /// The path relative to the XML's folder, with `/` between the parts: `workout-routes/route_2024-06-15_1.07pm.gpx`.
  var name: String
  /// The declared uncompressed size in bytes.
  var size: Int64
  /// The index in its folder. Has no meaning outside it.
  var index: Int
}

/// The files beside the XML of an export, in a zip file or in a folder. Used by one thread at a time.
protocol ExportFolder: AnyObject {
  /// All files in the XML's folder and below, except the XML, ordered by name.
  var members: [ExportMember] { get }
  /// Further files beside the XML, which belong to the export only if it names them.
  var others: [ExportMember] { get }
  /// Opens a file. The source verifies the size, and in a zip file the checksum, at the end.
  func source(of member: ExportMember) throws(ImportError) -> any ByteSource
}

extension ExportFolder {
  var others: [ExportMember] { [] }
}

/// An empty folder, for an export that is a single file.
final class EmptyFolder: ExportFolder {
  var members: [ExportMember] { [] }
  func source(of member: ExportMember) throws(ImportError) -> any ByteSource { throw .noSuchFile(path: member.name) }
}

/// The files beside the XML in an unpacked export.
final class DirectoryFolder: ExportFolder {
  /// The folders in which an export keeps files. All other files beside the XML are ignored.
  static let folders = ["clinical-records", "electrocardiograms", "workout-routes"]

  private let path: String
  let members: [ExportMember]
  let others: [ExportMember]
  /// The most files beside the XML that are looked at: it may lie among a person's downloads.
  private static let mostOthers = 10_000
  /// The actual file names of members whose names contain backslashes.
  private var flat: [String: String] = [:]

  /// Lists the files beside an XML file.
  ///
  /// - Parameter xml: the path of the XML.
  init(beside xml: String) throws(ImportError) {
    path = xml.contains("/") ? (xml as NSString).deletingLastPathComponent : "."
    var members: [ExportMember] = []
    for folder in Self.folders {
      // An export has such a folder only if it is not empty.
      guard DirectoryListing.kind(of: "\(path)/\(folder)") == .folder else { continue }
      for name in try DirectoryListing.names(in: "\(path)/\(folder)").sorted() where !name.hasPrefix("._") {
        guard case .file(let size) = DirectoryListing.kind(of: "\(path)/\(folder)/\(name)") else { continue }
        members.append(ExportMember(name: "\(folder)/\(name)", size: size, index: members.count))
      }
    }
    // Unpacking a zip file with backslashes as separators leaves the backslashes in the file names.
    if let prefix = Self.flatPrefix(xml) {
      for name in try DirectoryListing.names(in: path).sorted() where name.hasPrefix(prefix) {
        let rest = String(name.dropFirst(prefix.count)).replacing("\\", with: "/")
        guard Self.folders.contains(where: { rest.hasPrefix($0 + "/") }),
          case .file(let size) = DirectoryListing.kind(of: "\(path)/\(name)")
        else { continue }
        flat[rest] = name
        members.append(ExportMember(name: rest, size: size, index: members.count))
      }
    }
    let first = members.count
    others = try DirectoryListing.names(in: path).filter { !$0.hasPrefix(".") && !$0.lowercased().hasSuffix(".xml") }
      .sorted().prefix(Self.mostOthers).enumerated().compactMap { [path] index, name in
        guard case .file(let size) = DirectoryListing.kind(of: "\(path)/\(name)") else { return nil }
        return ExportMember(name: name, size: size, index: first + index)
      }
    self.members = members
  }

  /// Returns the prefix of an XML's name up to its last backslash: `apple_health_export\` for
  /// `apple_health_export\export.xml`. Returns `nil` for a name without backslashes.
  private static func flatPrefix(_ xml: String) -> String? {
    let name = (xml as NSString).lastPathComponent
    return name.lastIndex(of: "\\").map { String(name[...$0]) }
  }

  func source(of member: ExportMember) throws(ImportError) -> any ByteSource {
    guard members.contains(member) || others.contains(member) else { throw .noSuchFile(path: "\(path)/\(member.name)") }
    let file = "\(path)/\(flat[member.name] ?? member.name)"
    return SizedSource(try FileSource(path: file, followsLinks: false), path: file, size: member.size)
  }
}

/// A namespace for listing folders with untrusted content.
enum DirectoryListing {
  enum Kind: Equatable {
    case file(size: Int64)
    case folder
    /// Something else, such as a symbolic link, which may point anywhere.
    case other
    case missing
  }

  /// Returns the kind of the item at `path`, without following a symbolic link.
  static func kind(of path: String) -> Kind {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .missing }
    return switch status.st_mode & S_IFMT {
    case S_IFDIR: .folder
    case S_IFREG: .file(size: Int64(status.st_size))
    default: .other
    }
  }

  /// Returns the names in a folder, in no particular order.
  static func names(in path: String) throws(ImportError) -> [String] {
    guard let directory = opendir(path) else { throw ImportError(errno: errno, path: path) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
