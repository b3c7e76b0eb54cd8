/// A limit on the expansion of compressed content, which detects decompression bombs.
struct ExpansionLimit {
  /// The maximum ratio of expanded to compressed size. Samples expand about thirtyfold; only bombs exceed this ratio.
  private static let ratio: Int64 = 1000
  /// The expanded size in bytes up to which any ratio is allowed, as that of an empty table or white space.
  private static let free: Int64 = 64 << 20

  private var consumed: Int64 = 0
  private var produced: Int64 = 0

  mutating func add(used: Int, written: Int, path: String) throws(ImportError) {
    consumed += Int64(used)
    produced += Int64(written)
    if produced > Self.free, produced / Self.ratio > consumed {
      throw .damagedCompression(path: path, detail: "it holds a thousand times what its size allows")
    }
  }
}
