import PeerProtocol

extension FuzzTarget {
  /// Fuzzes the decoder of change lines. The first byte determines the lengths of the pieces in which the rest
  /// arrives.
  @Sendable static func changeFeed(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    let stream = Array(input.dropFirst())
    let whole = lines(of: stream, pieces: nil)
    let divided = lines(of: stream, pieces: seed)
    require(whole.error == divided.error, "the error does not depend on the pieces: \(whole), \(divided)")
    if whole.error == nil {
      require(whole.lines.map { json($0) } == divided.lines.map { json($0) }, "nor do the lines: \(whole), \(divided)")
    }
    for line in divided.lines {
      requireRoundTrip(line)
      var bytes: [UInt8] = []
      do { try ChangeLineEncoder().encode(line, into: &bytes) } catch { fatalError("broken promise: \(error)") }
      require(bytes.count { $0 == 0x0A } == 1 && bytes.last == 0x0A, "one line: \(text(bytes))")
    }
  }

  /// - Parameter pieces: The seed for the lengths of the pieces, or `nil` for all bytes at once.
  private static func lines(of stream: [UInt8], pieces: UInt8?) -> (lines: [ChangeLine], error: ChangeFeedError?) {
    var limits = ClientLimits()
    limits.line.bytes = 2048
    var decoder = ChangeLineDecoder(limits: limits)
    var lines: [ChangeLine] = []
    var state = UInt32(pieces ?? 0)
    var position = 0
    do throws(ChangeFeedError) {
      repeat {
        state = state &* 1_664_525 &+ 1_013_904_223
        let length = pieces == nil ? stream.count : min(Int(state >> 16) % 40, stream.count - position)
        let piece = Array(stream[position..<position + length])
        let decoded = piece.withUnsafeBytes { bytes in
          Result { () throws(ChangeFeedError) in try decoder.decode(bytes) }
        }
        lines += try decoded.get()
        position += length
      } while position < stream.count
    } catch {
      return (lines, error)
    }
    return (lines, nil)
  }
}
