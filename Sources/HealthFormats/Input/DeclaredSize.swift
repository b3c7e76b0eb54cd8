/// How long a file in a zip archive is, uncompressed, as the archive says. Where it is 4 GiB or more, the Mac's Archive Utility
/// writes the lowest 32 bits alone; the checksum tells then whether all of it is there.
struct DeclaredSize: Hashable, Sendable {
  /// What the archive says.
  let bytes: Int64
  /// Whether it may be any number of times 4 GiB more.
  let mayWrap: Bool
  /// What it most likely is, for what depends on about how much there is: an export's XML is compressed to less than a quarter.
  let likely: Int64

  private static let wrap: Int64 = 1 << 32
  /// DEFLATE makes no more of a byte (zlib's documentation, "Maximum Compression Factor").
  private static let mostExpansion: Int64 = 1032

  /// - Parameter storedSize: how much the compressed content may be at most, in bytes.
  init(_ bytes: Int64, storedSize: Int64) {
    self.bytes = bytes
    mayWrap = bytes >= 0 && bytes < Self.wrap && storedSize >= (Self.wrap + bytes) / Self.mostExpansion
    let least = 4 * min(storedSize, 1 << 40)
    likely = mayWrap && bytes < least ? bytes + (least - bytes + Self.wrap - 1) / Self.wrap * Self.wrap : bytes
  }

  /// - Parameter exactly: as records of zip64 have it (APPNOTE.TXT 4.5.3).
  init(exactly bytes: Int64) {
    (self.bytes, likely) = (bytes, bytes)
    mayWrap = false
  }

  /// Whether so much may have come so far. A size that lies is how a decompression bomb gets past a check of sizes.
  func allows(_ count: Int64) -> Bool { count <= bytes || mayWrap }

  /// Whether that is all of it.
  func isThat(_ count: Int64) -> Bool {
    count == bytes || mayWrap && count > bytes && (count - bytes) % Self.wrap == 0
  }
}
