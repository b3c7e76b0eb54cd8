import Foundation
import HealthAppTransfer
import HealthModel

/// What a person may give to import, recognised by its content: names say nothing.
///
/// ```swift
/// switch try ImportFile.recognise("export.zip") {
/// case .appleHealth(let exports): print("\(exports.count) exports of Apple's")
/// case .samples(let file): print("samples as", file.format)
/// case .healthAutoExport(let file): print("\(file.totalBytes) bytes of Health Auto Export")
/// case .healthAppTransfer(let file): print("\(file.totalBytes) bytes of HealthAppTransfer")
/// case .healthPush(let folder): print("\(folder.totalBytes) bytes of day files")
/// }
/// ```
public enum ImportFile: Sendable {
  /// Apple's export: a zip, an XML file, or an unpacked folder. A zip and a folder may hold several.
  case appleHealth([AppleHealthExport])
  /// hpeer's own JSON and CSV, a saved change feed, and FHIR as hpeer writes it. These and those below may be compressed
  /// (``FileCompression``).
  case samples(SampleFile)
  /// JSON of the app Health Auto Export.
  case healthAutoExport(HealthAutoExport)
  /// JSON or CSV of the app HealthAppTransfer.
  case healthAppTransfer(HealthAppTransferFile)
  /// A folder of files by type and day, as HealthPush lays them out in a bucket.
  case healthPush(HealthPushFolder)

  /// - Throws: ``SampleFileError`` or ``ImportError`` for what is none of these.
  public static func recognise(_ path: String) throws -> ImportFile {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      if let folder = HealthPushFolder(at: path) { return .healthPush(folder) }
      return .appleHealth(try AppleHealthExport.all(at: path))
    }
    let source = try FileSource(path: path)
    var head = try source.prefix(ExportLocator.sniffSize)
    source.close()
    let compression = FileCompression(head)
    let content = FileContent(path: path, size: Int64(status.st_size), compression: compression)
    if compression != nil {
      let source = try content.open()
      head = try source.prefix(ExportLocator.sniffSize)
      source.close()
    }
    switch SampleFileKind(head) {
    case .samples(let format): return .samples(SampleFile(format: format, content))
    case .healthAutoExport: return .healthAutoExport(HealthAutoExport(content))
    case .healthAppTransfer(let form): return .healthAppTransfer(HealthAppTransferFile(form, content))
    case .synchronisationFile: throw SampleFileError.synchronisationFile(path: path)
    case .autoExportTable: throw SampleFileError.autoExportTable(path: path)
    // Lines of a store that has had nothing yet are none.
    case nil where head.isEmpty && (path as NSString).lastPathComponent.contains(".ndjson"):
      return .samples(SampleFile(format: .changeFeed, content))
    case nil: return .appleHealth(try AppleHealthExport.all(at: path))
    }
  }

  /// What reading it reports as progress when it is done.
  public var workBytes: Int64 {
    switch self {
    case .appleHealth(let exports): exports.reduce(0) { $0 + $1.workBytes }
    case .samples(let file): file.workBytes
    case .healthAutoExport(let file): file.workBytes
    case .healthAppTransfer(let file): file.totalBytes
    case .healthPush(let folder): folder.totalBytes
    }
  }
}

/// What the first bytes of a file say that it is, of the formats other than Apple's.
enum SampleFileKind: Equatable {
  case samples(SampleFile.Format)
  case healthAutoExport
  case healthAppTransfer(HealthAppTransferFile.Form)
  /// What Health Auto Export keeps in iCloud.
  case synchronisationFile
  /// Health Auto Export's CSV.
  case autoExportTable

  init?(_ head: [UInt8]) {
    if head.starts(with: Array("bvx2".utf8)) || head.starts(with: Array("bvxn".utf8)) {
      self = .synchronisationFile
      return
    }
    let body = head.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
    if body.first == UInt8(ascii: "{") {
      guard let kind = Self.json(head) else { return nil }
      self = kind
    } else if body.first == UInt8(ascii: "[") {
      guard Self.beginsWithTransferredSample(head) else { return nil }
      self = .healthAppTransfer(.json)
    } else if let kind = Self.table(head) {
      self = kind
    } else {
      return nil
    }
  }

  /// The lists that only Health Auto Export has in its `data`.
  private static let lists: Set<String> = [
    "metrics", "workouts", "stateOfMind", "medications", "symptoms", "cycleTracking", "ecg", "heartRateNotifications",
  ]

  private static func json(_ head: [UInt8]) -> SampleFileKind? {
    var found: SampleFileKind?
    // A head ends anywhere, so an error means only that there is no more to see.
    try? look(JSONScanner(source: MemorySource(head), path: "", chunkSize: head.count), &found)
    return found
  }

  private static func look(_ scanner: consuming JSONScanner, _ found: inout SampleFileKind?) throws {
    var keys: Set<String> = []
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      keys.insert(key)
      switch key {
      case "format":
        if try scanner.tree(limit: 1000).value == .string("hpeer") { found = .samples(.json) }
        return
      case "resourceType":
        guard case .string(let type) = try scanner.tree(limit: 1000).value else { return }
        found = .samples(type == "Bundle" ? .fhirBundle : .fhirResources)
        return
      case "added", "deleted":
        found = .samples(.changeFeed)
        return
      case "data" where try scanner.peek() == UInt8(ascii: "{"):
        try scanner.beginObject()
        guard var list = try scanner.nextKey() else {
          found = .healthAutoExport
          break
        }
        while true {
          if lists.contains(list) {
            found = .healthAutoExport
            return
          }
          if AppTypes.entry(named: list) != nil {
            found = .healthAppTransfer(.json)
            return
          }
          // Of a type of tomorrow.
          try scanner.skipValue()
          guard let next = try scanner.nextKey() else { break }
          list = next
        }
      case "metadata" where try scanner.peek() == UInt8(ascii: "{"):
        if HealthAppTransferFile.isMetadata(try scanner.tree(limit: 100_000).value) {
          found = .healthAppTransfer(.json)
          return
        }
      case "workouts" where try scanner.peek() == UInt8(ascii: "["): try scanner.skipValue()
      default:
        if keys.isSuperset(of: ["token", "more"]) || keys.isSuperset(of: ["uuid", "type", "start"]) {
          found = .samples(.changeFeed)
          return
        }
        try scanner.skipValue()
      }
    }
  }

  /// Also an array without anything in it, which is all that the app writes where there was nothing.
  private static func beginsWithTransferredSample(_ head: [UInt8]) -> Bool {
    var scanner = JSONScanner(source: MemorySource(head), path: "", chunkSize: head.count)
    do {
      try scanner.beginArray()
      guard try scanner.nextElement() else { return true }
      // What one lacks is for the reader to say, which leaves it out.
      repeat {
        if HealthAppTransferFile.resemblesSample(try scanner.tree(limit: head.count).value) { return true }
      } while try scanner.nextElement()
      return false
    } catch {
      // A sample longer than a head is none that begins so.
      return false
    }
  }

  private static func table(_ head: [UInt8]) -> SampleFileKind? {
    var scanner = CSVScanner(source: MemorySource(head), path: "", chunkSize: max(1, head.count))
    guard let row = try? scanner.row(limit: 10_000) else { return nil }
    let names = row.fields.map(\.text)
    if HealthAppTransferFile.isHeader(names) { return .healthAppTransfer(.csv) }
    if SampleCSV.required.allSatisfy({ names.contains($0.rawValue) }) { return .samples(.csv) }
    return isAutoExport(names) ? .autoExportTable : nil
  }

  /// `Date/Time,Active Energy (kJ),…`, in the phone's language, and the table of workouts beside it.
  private static func isAutoExport(_ names: [String]) -> Bool {
    if names.starts(with: ["Workout Type", "Start", "End", "Duration"]) { return true }
    guard names.count > 1, names[0].split(separator: "/").count == 2 else { return false }
    return names[1].hasSuffix(")") && names[1].contains(" (")
  }
}
