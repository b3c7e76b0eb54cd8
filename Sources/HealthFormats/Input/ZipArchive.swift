import CZip
import Foundation

/// A zip file opened for reading with libzip. Entries are named by index: their names may be in any encoding.
final class ZipArchive {
  struct Entry {
    var index: UInt64
    /// As the archive has it, invalid UTF-8 repaired.
    var name: String
    /// Uncompressed, as the central directory declares it.
    var size: Int64
    /// Of the content as it is in the archive, as that declares it.
    var storedSize: Int64
    var isEncrypted: Bool
    var method: ZipMethod
    /// `nil` where the central directory does not say it.
    var checksum: UInt32?

    /// The same of what may be 4 GiB or more: of an export, that is the XML only.
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
      // libzip says this of a file, too, whose table of contents lacks a part (sizes of zip64).
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

  /// All files of the archive, directories left out.
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

  /// .NET before 4.6.1, and so Windows PowerShell 5.1, separates folders with backslashes: so it is read where no name of an
  /// archive has a slash.
  static func withSlashes<Entry>(_ entries: [Entry], _ name: WritableKeyPath<Entry, String>) -> [Entry] {
    if entries.contains(where: { $0[keyPath: name].contains("/") }) { return entries }
    return entries.map {
      var entry = $0
      entry[keyPath: name] = entry[keyPath: name].replacing("\\", with: "/")
      return entry
    }
  }

  /// Opens one entry. The source keeps the archive open and checks size and CRC at the end.
  ///
  /// - Parameter size: what it must be; `nil` for what is declared, exactly.
  func source(of entry: Entry, size: DeclaredSize? = nil) throws(ImportError) -> any ByteSource {
    let size = size ?? DeclaredSize(exactly: entry.size)
    // ISA-L inflates three times as fast as zlib, with which libzip does it.
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

    /// - Parameter size: what must come out; `nil` if someone else checks that.
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
