import Foundation

/// Cuts a stream of bytes into lines and decodes them one at a time, however the bytes are divided.
public struct ChangeLineDecoder: ChangeDecoder {
  private let decoder = JSONDecoder()
  private let limits: ClientLimits
  private var pending: [UInt8] = []
  /// Where in ``pending`` the next line begins, and up to where it has been searched for its end.
  private var (start, searched) = (0, 0)
  /// Lines read so far.
  private(set) var lines = 0
  /// Bytes of the lines read so far, with their line feeds.
  private(set) var bytes = 0

  /// - Parameter limits: of these, the length and the weight of a line.
  public init(limits: ClientLimits = ClientLimits()) {
    self.limits = limits
  }

  /// Whether no byte of a further line has been received.
  var isBetweenLines: Bool { start == pending.count }

  /// Appends bytes of the stream.
  public mutating func receive(_ bytes: UnsafeRawBufferPointer) {
    if start > 0 {
      pending.removeFirst(start)
      (start, searched) = (0, searched - start)
    }
    pending.append(contentsOf: bytes)
  }

  /// The next line, if its end has come. Empty lines are skipped: they keep a quiet connection open.
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
      // Not a copy of a line that may be long; what is decoded does not outlive this.
      let data = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: address), count: line.count, deallocator: .none)
      return try decoder.decode(ChangeLine.self, from: data)
    } catch {
      throw .malformed(line: lines)
    }
  }

  /// Frees the buffer of a long line.
  private mutating func giveBack(_ count: Int) {
    guard count > 1 << 20 else { return }
    pending = Array(pending[start...])
    (start, searched) = (0, 0)
  }
}
