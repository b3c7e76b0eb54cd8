import Foundation

/// Cuts a stream of bytes into lines and decodes them, however the bytes are divided.
public struct ChangeLineDecoder {
  private let decoder = JSONDecoder()
  private let limit: Int
  private var pending: [UInt8] = []
  /// Those that were read so far.
  private(set) var lines = 0

  /// - Parameter lineLimit: the longest line that is accepted, in bytes.
  public init(lineLimit: Int = 64 << 20) {
    limit = lineLimit
  }

  /// The lines that `bytes` complete. Empty lines are skipped: they keep a quiet connection open.
  public mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(ChangeFeedError) -> [ChangeLine] {
    var decoded: [ChangeLine] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = rest[rest.startIndex..<end]
      rest = rest[(end + 1)...]
      if pending.isEmpty {
        if let line = try decode(line: Data(line)) { decoded.append(line) }
      } else {
        pending.append(contentsOf: line)
        let whole = Data(pending)
        pending.removeAll(keepingCapacity: true)
        if let line = try decode(line: whole) { decoded.append(line) }
      }
    }
    pending.append(contentsOf: rest)
    guard pending.count <= limit else { throw .lineTooLong(line: lines + 1) }
    return decoded
  }

  private mutating func decode(line: Data) throws(ChangeFeedError) -> ChangeLine? {
    lines += 1
    guard line.count <= limit else { throw .lineTooLong(line: lines) }
    guard !line.isEmpty else { return nil }
    do {
      return try decoder.decode(ChangeLine.self, from: line)
    } catch {
      throw .malformed(line: lines)
    }
  }
}
