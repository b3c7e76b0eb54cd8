/// Decompresses a body and counts its values before anything is parsed.
enum InboxContent {
  private static let pieceSize = 128 << 10

  static func bytes(of body: [UInt8], _ limits: InboxBody.Limits) throws(InboxBodyError) -> [UInt8] {
    let content = try decompressed(body, limits)
    guard content.count <= limits.contentBytes else { throw .tooLarge(limit: limits.contentBytes) }
    let first = content.first { $0 > 0x20 }
    let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    // A table is read row by row, so more values are allowed.
    let limit = isJSON ? limits.values : 2 * limits.values
    guard values(in: content) <= limit else { throw .tooManyValues(limit: limit) }
    return content
  }

  private static func decompressed(_ body: [UInt8], _ limits: InboxBody.Limits) throws(InboxBodyError) -> [UInt8] {
    guard let compression = FileCompression(Array(body.prefix(8))) else { return body }
    let source = compression.decompressing(MemorySource(body), path: "the body")
    defer { source.close() }
    var content: [UInt8] = []
    do {
      while true {
        let piece = try source.prefix(pieceSize)
        if piece.isEmpty { return content }
        guard content.count + piece.count <= limits.contentBytes else {
          throw InboxBodyError.tooLarge(limit: limits.contentBytes)
        }
        content += piece
      }
    } catch {
      throw InboxBodyError(error, limits)
    }
  }

  /// Returns the approximate number of JSON values or table fields, from the delimiters outside strings.
  static func values(in content: [UInt8]) -> Int {
    var (count, isText, isEscaped) = (0, false, false)
    for byte in content {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"), 0x0A: count += 1
      default: break
      }
    }
    return count
  }
}
