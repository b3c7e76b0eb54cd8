/// The kind of a file, recognised by its first bytes.
enum ContentKind: Equatable {
  case healthData
  case zip
  /// Another kind of file, described in words that follow "but".
  case other(String)

  init(_ head: [UInt8]) {
    if head.isEmpty {
      self = .other("an empty file")
    } else if head.starts(with: [0x50, 0x4B, 3, 4]) || head.starts(with: [0x50, 0x4B, 5, 6]) {
      self = .zip
    } else if let known = Self.signatures.first(where: { head.starts(with: $0.bytes) }) {
      self = .other(known.name)
    } else {
      self = Self.text(head)
    }
  }

  /// The kind of `export_cda.xml`, an HL7 Clinical Document that repeats a part of the export's data.
  static let clinicalDocument = ContentKind.other("the clinical document that lies beside the export's XML file")

  private static let signatures: [(bytes: [UInt8], name: String)] = [
    (Array("%PDF".utf8), "a PDF document"), (Array("SQLite format 3".utf8), "a SQLite database"),
    ([0x1F, 0x8B], "a gzip file"), ([0x42, 0x5A, 0x68], "a bzip2 file"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "an xz file"),
    ([0x28, 0xB5, 0x2F, 0xFD], "a zstd file"), ([0x37, 0x7A, 0xBC, 0xAF], "a 7-Zip file"),
    (Array("Rar!".utf8), "a RAR file"), ([0x89, 0x50, 0x4E, 0x47], "a picture"), ([0xFF, 0xD8, 0xFF], "a picture"),
    ([0xFF, 0xFE, 0, 0], "a text in UTF-32"), ([0, 0, 0xFE, 0xFF], "a text in UTF-32"),
    ([0xFF, 0xFE], "a text in UTF-16"), ([0xFE, 0xFF], "a text in UTF-16"), (Array("bvx2".utf8), "an LZFSE file"),
  ]

  private static func text(_ head: [UInt8]) -> ContentKind {
    let marks = ["<!DOCTYPE HealthData", "<HealthData", "<ClinicalDocument"].map { find($0, in: head) }
    if let clinical = marks[2], clinical < marks[0] ?? .max, clinical < marks[1] ?? .max {
      return .clinicalDocument
    }
    if marks[0] != nil || marks[1] != nil { return .healthData }
    if find("<gpx", in: head) != nil { return .other("a GPX track") }
    let body = head.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
    switch body.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return .other("a JSON file")
    case UInt8(ascii: "<"): return .other("another kind of XML or HTML file")
    case nil: return .other("a file without content")
    default: return .other(head.contains(0) ? "a binary file" : "a text file")
    }
  }

  private static func find(_ text: String, in head: [UInt8]) -> Int? {
    let wanted = Array(text.utf8)
    return head.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress, bytes.count >= wanted.count else { return nil }
      var start = 0
      while let next = Bytes(base + start, bytes.count - start).firstIndex(of: wanted[0]) {
        start += next
        if bytes[start...].starts(with: wanted) { return start }
        start += 1
      }
      return nil
    }
  }
}
