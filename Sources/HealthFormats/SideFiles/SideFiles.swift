import Foundation
import HealthModel

/// The files beside an export's XML, looked up by their paths in the XML. Used by one thread at a time.
final class SideFiles {
  /// An error that makes a side file unusable. Reading the export continues.
  enum Failure: Error {
    case missing
    /// The file cannot be used. The reason is in words that follow the file's name and a colon.
    case unusable(String)
  }

  private let folder: any ExportFolder
  private let members: [String: ExportMember]
  /// The members by their exact names. Two names may differ in case only.
  private let exact: [String: ExportMember]
  /// The names of the files that have been opened.
  private var used: Set<String> = []

  init(_ folder: any ExportFolder) {
    self.folder = folder
    var members: [String: ExportMember] = [:]
    for member in folder.members {
      guard let key = Self.key(member.name), members[key] == nil else { continue }
      members[key] = member
    }
    self.members = members
    exact = Dictionary(folder.members.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the file that the XML calls `path`. The path is relative to the folder of the XML, with or without a
  /// leading slash, and not case-sensitive.
  func member(_ path: String) -> ExportMember? {
    exact[String(path.drop { $0 == "/" })] ?? Self.key(path).flatMap { members[$0] }
  }

  /// Returns the files in a folder with the given extension that have not been opened yet, ordered by name.
  func unread(in folder: String, ending: String) -> [ExportMember] {
    self.folder.members.filter { member in
      guard !used.contains(member.name), let key = Self.key(member.name) else { return false }
      return key.begins(with: "\(folder)/") && key.ends(with: ending)
    }.sorted { $0.name < $1.name }
  }

  /// The number of files that have not been opened, by folder and extension, such as `electrocardiograms/*.pdf`. A
  /// group of one file has the file's name.
  ///
  /// Leaves out other folders with XML, which may be exports reported elsewhere, and hidden files.
  var unread: [String: Int] {
    var groups: [String: [String]] = [:]
    let folders = folder.members.compactMap { member -> String? in
      guard member.name.lowercased().hasSuffix(".xml"), let end = member.name.lastIndex(of: "/") else { return nil }
      return String(member.name[...end])
    }
    let others = Set(folders).subtracting(DirectoryFolder.folders.map { $0 + "/" }).sorted().prefix(100)
    for member in folder.members
    where !used.contains(member.name) && !others.contains(where: { member.name.hasPrefix($0) }) {
      let parts = member.name.parts(separatedBy: "/")
      guard let name = parts.last, !parts.contains(where: { $0.hasPrefix(".") }),
        parts.count > 1 || !name.lowercased().hasSuffix(".xml")
      else { continue }
      let ending = name.split(separator: ".").dropFirst().last.map { ".\($0)" } ?? ""
      groups[parts.dropLast().map { $0 + "/" }.joined() + "*" + ending, default: []].append(member.name)
    }
    return Dictionary(uniqueKeysWithValues: groups.map { ($1.count == 1 ? $1[0] : $0, $1.count) })
  }

  /// Returns the files whose name contains `text`, ignoring case.
  func members(containing text: String) -> [ExportMember] {
    let wanted = text.lowercased()
    return (folder.members + folder.others).filter { $0.name.lowercased().contains(wanted) }.sorted {
      $0.name < $1.name
    }
  }

  /// Opens a file. Throws ``Failure/unusable(_:)`` if it is larger than `limit` bytes.
  func source(of member: ExportMember, limit: Int64) throws(Failure) -> any ByteSource {
    used.insert(member.name)
    guard member.size <= limit else { throw .unusable("it is larger than any export has") }
    do throws(ImportError) {
      return try folder.source(of: member)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Returns the content of a file. Throws ``Failure/unusable(_:)`` if it is larger than `limit` bytes.
  func content(of member: ExportMember, limit: Int64) throws(Failure) -> [UInt8] {
    let source = try source(of: member, limit: limit)
    defer { source.close() }
    let bytes: [UInt8]
    do throws(ImportError) {
      bytes = try source.prefix(Int(member.size) + 1)
    } catch {
      throw Self.failure(error)
    }
    guard bytes.count == Int(member.size) else { throw .unusable("it changed while it was being read") }
    return bytes
  }

  /// Returns the reason why a side file could not be read, in words that follow its name.
  static func reason(_ error: any Error) -> String {
    switch (error as? ImportError).map(failure) ?? error as? Failure {
    case .missing: "it is missing"
    case .unusable(let reason): reason
    case nil: "\(error)"
    }
  }

  static func failure(_ error: ImportError) -> Failure {
    switch error {
    case .noSuchFile: .missing
    case .notReadable: .unusable("it may not be read")
    case .damagedZip(_, let detail, _), .damagedCompression(_, let detail), .ioError(_, let detail): .unusable(detail)
    case .encryptedZip: .unusable("it is protected by a password")
    case .unsupportedCompression(_, let method): .unusable("it is compressed with \(method), which is not supported")
    case .changedWhileReading: .unusable("it changed while it was being read")
    case .tooLarge(let what, _): .unusable("it holds \(what) that is larger than any has")
    case .tooManyAlike, .tooManyTypes: .unusable("it says too much")
    case .notAnExport, .exportXMLMissing, .onlyZipFiles, .onlyClinicalDocument, .tooManyFolders:
      .unusable("it is something else")
    }
  }

  /// Returns a path in normal form, in lowercase, or `nil` for a path that leads out of the folder.
  static func key(_ path: String) -> String? {
    let parts = path.replacing("\\", with: "/").parts(separatedBy: "/").filter { $0 != "." }
    guard !parts.isEmpty, !parts.contains("..") else { return nil }
    return parts.joined(separator: "/").lowercased()
  }
}
