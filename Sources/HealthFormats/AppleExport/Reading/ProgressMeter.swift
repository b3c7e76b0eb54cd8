/// A meter that reports the number of bytes that have been read, once per chunk.
struct ProgressMeter {
  /// The number of bytes of earlier passes.
  private let base: Int64
  private var last: Int64 = -1

  init(base: Int64) { self.base = base }

  mutating func update(_ bytes: Int64, _ progress: (Int64) throws -> Void) throws {
    guard bytes != last else { return }
    last = bytes
    try progress(base + bytes)
  }
}
