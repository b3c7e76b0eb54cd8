import CZip
import Foundation

/// A zip file opened for reading with libzip. Entries are identified by index, because names may be in any encoding.
final class ZipArchive {
  struct Entry {
    var index: UInt64
    /// The name in the archive, with invalid UTF-8 replaced.
    var name: String
    /// The uncompressed size in bytes, as declared in the central directory.
    var size: Int64
    /// The size of the content in the archive in bytes, as declared in the central directory.
    var storedSize: Int64
    var isEncrypted: Bool
    var method: ZipMethod
    /// The declared CRC-32; `nil` if the central directory has none.
    var checksum: UInt32?

    /// The uncompressed size of a file that may have 4 GiB or more. In an export, only the XML may.
    var largeSize: DeclaredSize {
      method == .stored ? DeclaredSize(exactly: size) : DeclaredSize(size, storedSize: storedSize)
    }
  }

  let path: String
  private var handle: OpaquePointer?

  init(path: String) throws(ImportError) {
    self.path = path
    var code: Int32 = 0
    handle = zip_open(path, ZIP_RDONLY, &code)
    guard handle != nil else {
      switch code {
      // libzip also reports this for a file whose table of contents is incomplete (zip64 sizes).
      case ZIP_ER_NOENT where access(path, F_OK) != 0: throw .noSuchFile(path: path)
      case ZIP_ER_NOENT: throw .damagedZip(path: path, detail: "its table of contents is inconsistent", someKept: false)
      case ZIP_ER_OPEN, ZIP_ER_READ, ZIP_ER_SEEK: throw ImportError(errno: errno, path: path)
      case ZIP_ER_NOZIP: throw .damagedZip(path: path, detail: "its table of contents is missing", someKept: false)
      default: throw .damagedZip(path: path, detail: Self.text(of: code), someKept: false)
      }
    }
  }

  deinit { close() }

  func close() {
    guard let handle else { return }
    zip_discard(handle)
    self.handle = nil
  }

  /// Returns all files of the archive, without directories.
  func entries() throws(ImportError) -> [Entry] {
    var entries: [Entry] = []
    for index in 0..<UInt64(max(0, zip_get_num_entries(handle, 0))) {
      var stat = zip_stat_t()
      zip_stat_init(&stat)
      guard zip_stat_index(handle, index, zip_flags_t(ZIP_FL_ENC_RAW), &stat) == 0 else {
        throw .damagedZip(path: path, detail: lastError, someKept: false)
      }
      entries.append(
        Entry(
          index: index, name: stat.name.map { String(cString: $0) } ?? "",
          size: Int64(clamping: stat.size), storedSize: Int64(clamping: stat.comp_size),
          isEncrypted: stat.encryption_method != UInt16(ZIP_EM_NONE),
          method: ZipMethod(rawValue: stat.comp_method),
          checksum: stat.valid & UInt64(ZIP_STAT_CRC) != 0 ? stat.crc : nil))
    }
    return Self.withSlashes(entries, \.name).filter { !$0.name.hasSuffix("/") }
  }

  /// Replaces backslashes in names with slashes, unless a name in the archive has a slash. .NET before 4.6.1, and
  /// therefore Windows PowerShell 5.1, separates folders with backslashes.
  static func withSlashes<Entry>(_ entries: [Entry], _ name: WritableKeyPath<Entry, String>) -> [Entry] {
    if entries.contains(where: { $0[keyPath: name].contains("/") }) { return entries }
    return entries.map {
      var entry = $0
      entry[keyPath: name] = entry[keyPath: name].replacing("\\", with: "/")
      return entry
    }
  }

  /// Opens an entry. The source keeps the archive open, and verifies size and CRC at the end.
  ///
  /// - Parameter size: the required size; `nil` for exactly the declared size.
  func source(of entry: Entry, size: DeclaredSize? = nil) throws(ImportError) -> any ByteSource {
    let size = size ?? DeclaredSize(exactly: entry.size)
    // ISA-L inflates three times as fast as zlib, which libzip uses.
    let rawChecksum = entry.method == .deflated && !entry.isEncrypted ? entry.checksum : nil
    let flags = zip_flags_t(rawChecksum == nil ? 0 : ZIP_FL_COMPRESSED)
    guard let file = zip_fopen_index(handle, entry.index, flags) else {
      switch zip_error_code_zip(zip_get_error(handle)) {
      case ZIP_ER_NOPASSWD, ZIP_ER_WRONGPASSWD, ZIP_ER_ENCRNOTSUPP: throw .encryptedZip(path: path)
      case ZIP_ER_COMPNOTSUPP: throw .unsupportedCompression(path: path, method: entry.method.name)
      default: throw .damagedZip(path: path, detail: lastError, someKept: false)
      }
    }
    if let rawChecksum {
      let raw = EntrySource(archive: self, file: file, size: nil)
      return DeflatedSource(raw, path: path, size: size, checksum: rawChecksum)
    }
    return EntrySource(archive: self, file: file, size: size)
  }

  private var lastError: String { String(cString: zip_strerror(handle)) }

  private static func text(of code: Int32) -> String {
    var error = zip_error_t()
    zip_error_init_with_code(&error, code)
    defer { zip_error_fini(&error) }
    return String(cString: zip_error_strerror(&error))
  }

  private final class EntrySource: ByteSource {
    private let archive: ZipArchive
    private var file: OpaquePointer?
    private let size: DeclaredSize?
    private var total: Int64 = 0

    /// Creates a source.
    ///
    /// - Parameter size: the required size of the output; `nil` if the caller checks it.
    init(archive: ZipArchive, file: OpaquePointer, size: DeclaredSize?) {
      self.archive = archive
      self.file = file
      self.size = size
    }

    deinit { close() }

    func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
      let result = zip_fread(file, buffer, zip_uint64_t(count))
      guard result >= 0 else {
        let detail = zip_file_strerror(file).map { String(cString: $0) } ?? "unknown error"
        throw .damagedZip(path: archive.path, detail: detail, someKept: false)
      }
      total += result
      guard let size else { return Int(result) }
      guard size.allows(total) else {
        throw .damagedZip(path: archive.path, detail: "a file in it is larger than it declares", someKept: false)
      }
      if result == 0, !size.isThat(total) {
        throw .damagedZip(path: archive.path, detail: "a file in it is not as long as it declares", someKept: false)
      }
      return Int(result)
    }

    func close() {
      guard let file else { return }
      zip_fclose(file)
      self.file = nil
    }
  }
}
