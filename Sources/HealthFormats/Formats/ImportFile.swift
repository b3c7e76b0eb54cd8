import HealthModel

/// What a person may give to import, recognised by its content: names say nothing, but those in a Fitbit export.
///
/// ```swift
/// switch try ImportFile.recognise("export.zip") {
/// case .appleHealth(let exports): print("\(exports.count) exports of Apple's")
/// case .samples(let file): print("\(file.workBytes) bytes of samples")
/// }
/// ```
public enum ImportFile: Sendable {
  /// Apple's export: a zip, an XML file, or an unpacked folder. A zip and a folder may hold several.
  case appleHealth([AppleHealthExport])
  /// Any other format; files may be compressed (``FileCompression``).
  case samples(any RecordFormat)

  /// Blocking.
  ///
  /// - Parameter original: what the person calls it, if `path` is a file that was opened already. An XML file is read where it
  ///   is nevertheless: files of the export are beside it.
  /// - Throws: ``SampleFileError`` or ``ImportError`` for what is none of these.
  public static func recognise(_ path: String, original: String? = nil) throws -> ImportFile {
    let candidate = try ImportCandidate(path: path, original: original)
    if let file = try RecordFormats.recognise(candidate) { return .samples(file) }
    let isXML = candidate.file.map { ContentKind($0.head.bytes) == .healthData } ?? false
    return .appleHealth(try AppleHealthExport.all(at: isXML ? original ?? path : path))
  }

  /// In bytes, what reading it reports as progress when it is done.
  public var workBytes: Int64 {
    switch self {
    case .appleHealth(let exports): exports.reduce(0) { $0 + $1.workBytes }
    case .samples(let file): file.workBytes
    }
  }
}
