/// The header of a picture file, parsed before any library sees the file.
struct PictureHeader: Hashable {
  enum Format: Hashable {
    case png, jpeg
  }

  /// The maximum number of pixels; photos of today's phones have 48 million.
  static let mostPoints = 50_000_000
  private static let longestSide = 20_000

  var format: Format
  var width: Int
  var height: Int

  /// Parses a header. Throws ``QRPictureError`` if the file is not a picture or its picture is too large.
  init(_ bytes: [UInt8]) throws(QRPictureError) {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      (format, (width, height)) = (.png, try Self.pngSize(bytes))
    } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      (format, (width, height)) = (.jpeg, try Self.jpegSize(bytes))
    } else {
      throw .noPicture(kind: Self.kind(bytes))
    }
    guard width > 0, height > 0 else { throw .damaged }
    guard width <= Self.longestSide, height <= Self.longestSide, width * height <= Self.mostPoints else {
      throw .tooLarge
    }
  }

  /// Returns the size in a PNG, whose first chunk is IHDR (PNG, section 5.6).
  private static func pngSize(_ bytes: [UInt8]) throws(QRPictureError) -> (Int, Int) {
    guard bytes.count >= 33, Array(bytes[12..<16]) == Array("IHDR".utf8) else { throw .damaged }
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    return (number(16), number(20))
  }

  /// Returns the size in the first frame header of a JPEG: SOF0 to SOF15 without DHT, JPG and DAC (ITU T.81, table
  /// B.1).
  private static func jpegSize(_ bytes: [UInt8]) throws(QRPictureError) -> (Int, Int) {
    var at = 2
    while at + 4 <= bytes.count {
      guard bytes[at] == 0xFF else { throw .damaged }
      let marker = bytes[at + 1]
      // Skip fill bytes and markers without a length.
      if marker == 0xFF { at += 1; continue }
      if marker == 0x01 || (0xD0...0xD8).contains(marker) { at += 2; continue }
      let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
      guard length >= 2 else { throw .damaged }
      if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
        guard length >= 8, at + 9 <= bytes.count else { throw .damaged }
        return (Int(bytes[at + 7]) << 8 | Int(bytes[at + 8]), Int(bytes[at + 5]) << 8 | Int(bytes[at + 6]))
      }
      // The scan begins before any frame header.
      if marker == 0xDA || marker == 0xD9 { break }
      at += 2 + length
    }
    throw .damaged
  }

  /// Returns the name of another picture format that a phone may have written.
  private static func kind(_ bytes: [UInt8]) -> String? {
    func has(_ text: String, at: Int) -> Bool { bytes.count >= at + 4 && bytes[at...].starts(with: text.utf8) }
    if has("ftyp", at: 4) { return "HEIC" }
    if has("GIF8", at: 0) { return "GIF" }
    if has("RIFF", at: 0), has("WEBP", at: 8) { return "WebP" }
    if has("II*\0", at: 0) || has("MM\0*", at: 0) { return "TIFF" }
    if has("%PDF", at: 0) { return "PDF" }
    return nil
  }
}
