import HealthModel

/// A file or folder to import, recognised by its content. Only a Fitbit export is also recognised by its file names.
///
/// ```swift
/// switch try ImportFile.recognise("export.zip") {
/// case .appleHealth(let exports): print("\(exports.count) exports of Apple's")
/// case .samples(let file): print("\(file.workBytes) bytes of samples")
/// }
/// ```
public enum ImportFile: Sendable {
  /// Apple's export: a zip, an XML file or an unpacked folder. A zip or a folder may hold several.
  case appleHealth([AppleHealthExport])
  /// Any other format; files may be compressed (``FileCompression``).
  case samples(any RecordFormat)

  /// Recognises the format of a file or folder. Blocking.
  ///
  /// - Parameter original: the path that the person gave, if `path` refers to a file that is already open. An XML
  ///   file is nevertheless read from the original path, because other files of the export are beside it.
  /// - Throws: ``SampleFileError`` or ``ImportError`` if the format is unknown or cannot be imported.
  public static func recognise(_ path: String, original: String? = nil) throws -> ImportFile {
    let candidate = try ImportCandidate(path: path, original: original)
    if let file = try RecordFormats.recognise(candidate) { return .samples(file) }
    let isXML = candidate.file.map { ContentKind($0.head.bytes) == .healthData } ?? false
    return .appleHealth(try AppleHealthExport.all(at: isXML ? original ?? path : path))
  }

  /// The number of bytes that reading reports as progress by its end.
  public var workBytes: Int64 {
    switch self {
    case .appleHealth(let exports): exports.reduce(0) { $0 + $1.workBytes }
    case .samples(let file): file.workBytes
    }
  }
}
