import Foundation

/// An error that stops the import of an export or another file of samples.
public enum ImportError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No file or folder exists at the path, or it was removed in the meantime.
  case noSuchFile(path: String)
  /// The user has no permission to read the file or folder.
  case notReadable(path: String)
  /// The file is not an Apple Health export.
  ///
  /// - Parameter looksLike: the likely kind of the file, such as `a PDF document`.
  case notAnExport(path: String, looksLike: String)
  /// The zip file or folder does not contain the XML of an Apple Health export.
  case exportXMLMissing(path: String)
  /// The folder contains zip files but no unpacked export. `first` is the path of the first zip file.
  case onlyZipFiles(path: String, first: String)
  /// The zip file or folder contains `export_cda.xml` but not the XML of an Apple Health export.
  case onlyClinicalDocument(path: String)
  /// The zip file is damaged.
  ///
  /// - Parameter someKept: whether samples had been delivered before the damage was found.
  case damagedZip(path: String, detail: String, someKept: Bool)
  /// A gzip or Zstandard file is damaged. Samples before the damage may have been delivered.
  case damagedCompression(path: String, detail: String)
  /// The entries of the zip file are encrypted. Passwords are not supported; the person must unpack the file first.
  case encryptedZip(path: String)
  /// The zip file uses a compression method that is not supported.
  ///
  /// - Parameter method: the name of the method, such as `LZMA`.
  case unsupportedCompression(path: String, method: String)
  /// An item in the XML is far larger than in any real export.
  case tooLarge(what: String, at: TextPosition)
  /// The XML has more records with equal type, source and time than any real export.
  case tooManyAlike(limit: Int)
  /// The file has samples of more types than any real record. Samples before the limit were kept.
  case tooManyTypes(limit: Int)
  /// The folder contains more folders than any unpacked export.
  case tooManyFolders(path: String, limit: Int)
  /// The file was truncated, extended or replaced while it was being read; it may still be being copied. Samples may
  /// have been delivered before that. Import the file again when it is whole.
  case changedWhileReading(path: String)
  /// Reading the file failed for another reason than those above, such as a disk error.
  ///
  /// - Parameter detail: the operating system's error message.
  case ioError(path: String, detail: String)

  public var description: String {
    switch self {
    case .noSuchFile(let path):
      "There is no file or folder at \(path); check the path."
    case .notReadable(let path):
      "\(path) may not be read by this user; give yourself permission to read it (chmod u+r) and try again."
    case .notAnExport(let path, let looksLike):
      "\(path) is not an Apple Health export but \(looksLike); give the export.zip that the Health app shares, "
        + "or the XML file in it."
    case .onlyZipFiles(let path, let first):
      "\(path) holds zip files and no unpacked export; import the zip files one by one, the oldest first, such as "
        + "\(first)."
    case .exportXMLMissing(let path):
      "\(path) holds no XML of an Apple Health export; export again in the Health app and copy the whole zip file."
    case .onlyClinicalDocument(let path):
      "\(path) holds only the clinical document (export_cda.xml), which shows a part of the data once more; give the "
        + "whole export.zip that the Health app shares, or the other XML file in it."
    case .damagedZip(let path, let detail, let someKept):
      "\(path) is damaged (\(detail)); "
        + (someKept
          ? "what was read before has been kept, so copy the file again and repeat: nothing is added twice."
          : "nothing was imported, so copy the file again or export again in the Health app.")
    case .damagedCompression(let path, let detail):
      "\(path) is damaged (\(detail)); copy or export it again, nothing is added twice."
    case .encryptedZip(let path):
      "\(path) is protected by a password; unpack it yourself and give the folder instead."
    case .unsupportedCompression(let path, let method):
      "\(path) is compressed with \(method), which is not supported; unzip it with the program that made it and import "
        + "the folder."
    case .tooLarge(let what, let position):
      "The XML holds \(what) that is larger than any export has, at line \(position.line), column \(position.column); "
        + "export again in the Health app."
    case .tooManyFolders(let path, let limit):
      "\(path) holds more than \(limit) folders, and no export does; give the export itself, or the folder it is in."
    case .tooManyTypes(let limit):
      "It has samples of more than \(limit) types, and no record does; what was read before that has been kept."
    case .tooManyAlike(let limit):
      "The XML has more than \(limit) records of one type, source and time, which no export has; export again in the "
        + "Health app."
    case .changedWhileReading(let path):
      "\(path) changed while it was being read; wait until it is copied completely and try again."
    case .ioError(let path, let detail):
      "\(path) could not be read (\(detail)); check the disk and try again."
    }
  }

  /// Creates the error for an `errno` value that occurred while reading `path`.
  init(errno code: Int32, path: String) {
    self =
      switch code {
      case ENOENT, ENOTDIR: .noSuchFile(path: path)
      case EACCES, EPERM: .notReadable(path: path)
      default: .ioError(path: path, detail: String(cString: strerror(code)))
      }
  }

  /// Returns the same error with `path` replaced by `name`.
  package func replacing(_ path: String, with name: String) -> ImportError {
    func named(_ other: String) -> String { other.replacing(path, with: name) }
    return switch self {
    case .noSuchFile(let path): .noSuchFile(path: named(path))
    case .notReadable(let path): .notReadable(path: named(path))
    case .notAnExport(let path, let looksLike): .notAnExport(path: named(path), looksLike: looksLike)
    case .exportXMLMissing(let path): .exportXMLMissing(path: named(path))
    case .onlyZipFiles(let path, let first): .onlyZipFiles(path: named(path), first: first)
    case .onlyClinicalDocument(let path): .onlyClinicalDocument(path: named(path))
    case .damagedZip(let path, let detail, let someKept):
      .damagedZip(path: named(path), detail: detail, someKept: someKept)
    case .damagedCompression(let path, let detail): .damagedCompression(path: named(path), detail: detail)
    case .encryptedZip(let path): .encryptedZip(path: named(path))
    case .unsupportedCompression(let path, let method): .unsupportedCompression(path: named(path), method: method)
    case .tooLarge, .tooManyAlike, .tooManyTypes, .tooManyFolders: self
    case .changedWhileReading(let path): .changedWhileReading(path: named(path))
    case .ioError(let path, let detail): .ioError(path: named(path), detail: detail)
    }
  }

  /// The same error, for the case that samples were delivered before it occurred.
  var afterDelivery: ImportError {
    if case .damagedZip(let path, let detail, _) = self {
      return .damagedZip(path: path, detail: detail, someKept: true)
    }
    return self
  }
}
