import Foundation

/// An error that prevents the import of a file of samples. Each description is one sentence for a person.
public enum SampleFileError: Error, Sendable, Equatable {
  /// The file is cut off. Everything complete before that has been delivered.
  case endsEarly(path: String, at: TextPosition)
  /// A value does not conform to the format. Samples before it may have been delivered.
  case malformed(path: String, detail: String, at: TextPosition)
  /// A value is far larger than any sample.
  case tooLarge(path: String, at: TextPosition)
  /// A newer hpeer wrote the file; nothing was delivered.
  case newerVersion(path: String, version: Int)
  /// The file is an `.hae` file, which Health Auto Export writes for its own synchronisation.
  case synchronisationFile(path: String)
  /// The file is a table of Health Auto Export, whose dates have no UTC offset and whose numbers have no sources.
  case autoExportTable(path: String)
  /// The folder or zip file holds exports of several kinds, such as "a Fitbit export".
  case severalFormats(path: String, formats: [String])
}

extension SampleFileError {
  /// Returns the same error with another path, for a file that the person knows by that path.
  package func replacing(_ path: String, with name: String) -> SampleFileError {
    func named(_ other: String) -> String { other.replacing(path, with: name) }
    return switch self {
    case .endsEarly(let path, let place): .endsEarly(path: named(path), at: place)
    case .malformed(let path, let detail, let place): .malformed(path: named(path), detail: detail, at: place)
    case .tooLarge(let path, let place): .tooLarge(path: named(path), at: place)
    case .newerVersion(let path, let version): .newerVersion(path: named(path), version: version)
    case .synchronisationFile(let path): .synchronisationFile(path: named(path))
    case .autoExportTable(let path): .autoExportTable(path: named(path))
    case .severalFormats(let path, let formats): .severalFormats(path: named(path), formats: formats)
    }
  }
}

extension SampleFileError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .endsEarly(let path, let position):
      "\(path) ends in the middle, at \(position.place); copy or export it again, nothing is added twice."
    case .malformed(let path, let detail, let position):
      "\(path) cannot be read at \(position.place) (\(detail)); export it again, what came before may have been kept "
        + "and is not added twice."
    case .tooLarge(let path, let position):
      "\(path) holds a value at \(position.place) that is larger than any sample; export it again."
    case .newerVersion(let path, let version):
      "\(path) has version \(version) of hpeer's format, which a newer hpeer wrote; update hpeer on this machine."
    case .synchronisationFile(let path):
      "\(path) is a file that Health Auto Export synchronises with itself (.hae, compressed with LZFSE); export JSON in "
        + "that app and import that."
    case .autoExportTable(let path):
      "\(path) is a table (CSV) of Health Auto Export, which says neither in which time zone nor from which sources its "
        + "numbers are; export JSON in that app and import that."
    case .severalFormats(let path, let formats):
      "\(path) holds \(formats.joined(separator: " and ")); import each by its own path (from a zip file, unpacked)."
    }
  }
}

extension TextPosition {
  /// The position for messages: `line 3, column 14`.
  var place: String { "line \(line), column \(column)" }
}
