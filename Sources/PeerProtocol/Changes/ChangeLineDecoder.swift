import Foundation

/// A decoder that splits a stream into lines and decodes them one at a time, regardless of how the bytes are divided.
public struct ChangeLineDecoder: ChangeDecoder {
  private let decoder = JSONDecoder()
  private let limits: ClientLimits
  private var pending: [UInt8] = []
  /// The index in ``pending`` at which the next line begins, and the index up to which its end has been searched for.
  private var (start, searched) = (0, 0)
  /// The number of lines read so far.
  private(set) var lines = 0
  /// The size of the lines read so far, in bytes, including line feeds.
  private(set) var bytes = 0

  /// - Parameter limits: the decoder applies ``ClientLimits/line``.
  public init(limits: ClientLimits = ClientLimits()) {
    self.limits = limits
  }

  /// Whether the bytes received so far end at a line boundary.
  var isBetweenLines: Bool { start == pending.count }

  /// Appends bytes of the stream.
  public mutating func receive(_ bytes: UnsafeRawBufferPointer) {
    if start > 0 {
      pending.removeFirst(start)
      (start, searched) = (0, searched - start)
    }
    pending.append(contentsOf: bytes)
  }

  /// Returns the next line, or `nil` if it is incomplete. Skips empty lines, which keep a quiet connection open.
  public mutating func next() throws(ChangeFeedError) -> ChangeLine? {
    while let end = pending[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = start..<end
      (start, searched) = (end + 1, end + 1)
      lines += 1
      bytes += line.count + 1
      guard line.count <= limits.line.bytes else { throw .lineTooLong(line: lines) }
      if line.isEmpty { continue }
      defer { giveBack(line.count) }
      return try decode(line)
    }
    searched = pending.count
    guard pending.count - start <= limits.line.bytes else { throw .lineTooLong(line: lines + 1) }
    return nil
  }

  private func decode(_ line: Range<Int>) throws(ChangeFeedError) -> ChangeLine {
    let result = pending.withUnsafeBytes { buffer in
      Result { () throws(ChangeFeedError) in try decode(UnsafeRawBufferPointer(rebasing: buffer[line])) }
    }
    return try result.get()
  }

  private func decode(_ line: UnsafeRawBufferPointer) throws(ChangeFeedError) -> ChangeLine {
    switch limits.line.verdict(on: line) {
    case .fits: break
    case .tooHeavy: throw .lineTooLong(line: lines)
    case .tooDeep: throw .malformed(line: lines)
    }
    guard let address = line.baseAddress else { throw .malformed(line: lines) }
    do {
      // Avoids copying a line that may be long. The decoded value does not reference this memory.
      let data = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: address), count: line.count, deallocator: .none)
      return try decoder.decode(ChangeLine.self, from: data)
    } catch {
      throw .malformed(line: lines)
    }
  }

  /// Frees the buffer after a long line.
  private mutating func giveBack(_ count: Int) {
    guard count > 1 << 20 else { return }
    pending = Array(pending[start...])
    (start, searched) = (0, 0)
  }
}
