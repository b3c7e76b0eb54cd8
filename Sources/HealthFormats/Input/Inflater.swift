import CISAL

/// Inflates raw DEFLATE data (RFC 1951) with ISA-L, piece by piece.
final class Inflater {
  /// The input is not valid DEFLATE data.
  struct Damage: Error {}

  // Some 80 KB that must not move.
  private let state: UnsafeMutablePointer<inflate_state>
  /// The CRC-32 (ISO 3309) of all that has come out.
  private(set) var checksum: UInt32 = 0
  /// Decompressed bytes so far.
  private(set) var produced: Int64 = 0
  /// Whether the last block has ended and all of it has come out.
  private(set) var isFinished = false

  init() {
    state = .allocate(capacity: 1)
    isal_inflate_init(state)
    state.pointee.crc_flag = UInt32(ISAL_DEFLATE)
  }

  deinit { state.deallocate() }

  /// - Returns: how many bytes of `input` were used up and how many were written to `output`. When neither is any, more
  ///   input is needed.
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
    // What lies beyond the end of the data has been taken in too, a word at a time.
    if isFinished { used -= Int(state.pointee.read_in_length) / 8 }
    return (used, written)
  }
}
