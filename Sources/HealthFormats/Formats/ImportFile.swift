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
  /// - Throws: ``SampleFileError`` or ``ImportError`` for what is none of these.
  public static func recognise(_ path: String) throws -> ImportFile {
    if let file = try RecordFormats.recognise(try ImportCandidate(path: path)) { return .samples(file) }
    return .appleHealth(try AppleHealthExport.all(at: path))
  }

  /// In bytes, what reading it reports as progress when it is done.
  public var workBytes: Int64 {
    switch self {
    case .appleHealth(let exports): exports.reduce(0) { $0 + $1.workBytes }
    case .samples(let file): file.workBytes
    }
  }
}
