/// A file that lies beside the XML of an export.
struct ExportMember: Sendable, Equatable {
  /// Relative to the folder of the XML, with `/` between the parts: `workout-routes/route_2024-06-15_1.07pm.gpx`.
  var name: String
  /// Uncompressed, as it is declared.
  var size: Int64
  /// Where it is in its folder; of no meaning elsewhere.
  var index: Int
}

/// The files of an export, whether they lie in a zip file or in a folder. Used by one thread at a time.
protocol ExportFolder: AnyObject {
  /// All files at and below the XML's folder but the XML itself, in the order of their names.
  var members: [ExportMember] { get }
  /// Opens a file. Sizes, and in a zip file checksums, are checked when the end is reached.
  func source(of member: ExportMember) throws(ImportError) -> any ByteSource
}

/// The folder of an export that is one file only.
final class EmptyFolder: ExportFolder {
  var members: [ExportMember] { [] }
  func source(of member: ExportMember) throws(ImportError) -> any ByteSource { throw .noSuchFile(path: member.name) }
}
