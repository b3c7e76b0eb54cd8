/// The uncompressed size of a file in a zip archive, as the archive declares it. For files of 4 GiB or more, the
/// Mac's Archive Utility declares only the lowest 32 bits of the size; the checksum then shows whether the file is
/// complete.
struct DeclaredSize: Hashable, Sendable {
  /// The declared size in bytes.
  let bytes: Int64
  /// Whether the real size may be larger by a multiple of 4 GiB.
  let mayWrap: Bool
  /// The most likely size, for estimates. Assumes that the XML of an export is compressed to less than a quarter.
  let likely: Int64

  private static let wrap: Int64 = 1 << 32
  /// The maximum ratio of DEFLATE (zlib's documentation, "Maximum Compression Factor").
  private static let mostExpansion: Int64 = 1032

  /// Creates a size that may have been truncated to 32 bits.
  ///
  /// - Parameter storedSize: the maximum size of the compressed content, in bytes.
  init(_ bytes: Int64, storedSize: Int64) {
    self.bytes = bytes
    mayWrap = bytes >= 0 && bytes < Self.wrap && storedSize >= (Self.wrap + bytes) / Self.mostExpansion
    let least = 4 * min(storedSize, 1 << 40)
    likely = mayWrap && bytes < least ? bytes + (least - bytes + Self.wrap - 1) / Self.wrap * Self.wrap : bytes
  }

  /// Creates an exact size.
  ///
  /// - Parameter exactly: the size as in zip64 records (APPNOTE.TXT 4.5.3).
  init(exactly bytes: Int64) {
    (self.bytes, likely) = (bytes, bytes)
    mayWrap = false
  }

  /// Returns whether the content may have this many bytes so far. Without this check, a decompression bomb could
  /// declare a small size.
  func allows(_ count: Int64) -> Bool { count <= bytes || mayWrap }

  /// Returns whether `count` bytes are the whole content.
  func isThat(_ count: Int64) -> Bool {
    count == bytes || mayWrap && count > bytes && (count - bytes) % Self.wrap == 0
  }
}
