/// How a file in a zip archive is compressed (APPNOTE.TXT 4.4.5).
struct ZipMethod: Hashable, Sendable {
  let rawValue: UInt16

  static let stored = ZipMethod(rawValue: 0)
  static let deflated = ZipMethod(rawValue: 8)

  /// The method's name in messages.
  var name: String {
    switch rawValue {
    case 0: "nothing"
    case 8: "DEFLATE"
    case 9: "Deflate64"
    case 12: "bzip2"
    case 14: "LZMA"
    case 93: "Zstandard"
    case 95: "XZ"
    case 98: "PPMd"
    default: "method \(rawValue)"
    }
  }
}
