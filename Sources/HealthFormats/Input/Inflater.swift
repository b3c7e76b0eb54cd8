import CISAL

/// A streaming decompressor of raw DEFLATE data (RFC 1951) that uses ISA-L.
final class Inflater {
  /// An error in the DEFLATE data.
  struct Damage: Error {}

  // Some 80 KB that must not move in memory.
  private let state: UnsafeMutablePointer<inflate_state>
  /// The CRC-32 (ISO 3309) of the output so far.
  private(set) var checksum: UInt32 = 0
  /// The number of bytes of output so far.
  private(set) var produced: Int64 = 0
  /// Whether the last block has ended and all output has been delivered.
  private(set) var isFinished = false

  init() {
    state = .allocate(capacity: 1)
    isal_inflate_init(state)
    state.pointee.crc_flag = UInt32(ISAL_DEFLATE)
  }

  deinit { state.deallocate() }

  /// Decompresses a part of the data.
  ///
  /// - Returns: the numbers of bytes used of `input` and written to `output`. If both are 0, more input is needed.
  func inflate(
    _ input: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>, capacity: Int
  ) throws(Damage) -> (used: Int, written: Int) {
    if isFinished { return (0, 0) }
    let (fed, room) = (min(count, 1 << 30), min(capacity, 1 << 30))
    state.pointee.next_in = UnsafeMutablePointer(mutating: input)
    state.pointee.avail_in = UInt32(fed)
    state.pointee.next_out = output
    state.pointee.avail_out = UInt32(room)
    guard isal_inflate(state) == ISAL_DECOMP_OK else { throw Damage() }
    let written = room - Int(state.pointee.avail_out)
    checksum = crc32_gzip_refl(checksum, output, UInt64(written))
    produced += Int64(written)
    isFinished = state.pointee.block_state == ISAL_BLOCK_FINISH
    var used = fed - Int(state.pointee.avail_in)
    // The library reads ahead by words, so it may have taken bytes after the end of the data.
    if isFinished { used -= Int(state.pointee.read_in_length) / 8 }
    return (used, written)
  }
}
