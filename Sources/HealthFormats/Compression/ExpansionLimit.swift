/// Tells content that was made to keep a reader busy from what anyone has.
struct ExpansionLimit {
  /// Samples become thirty times as large; nothing but bombs becomes more than this.
  private static let ratio: Int64 = 1000
  /// Up to so many bytes, any ratio is right: an empty table, white space.
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
