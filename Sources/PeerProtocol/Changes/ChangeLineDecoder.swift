import Foundation

/// Why a change feed could not be read.
public enum ChangeFeedError: Error, Hashable, Sendable {
  /// The line with this number (from 1) is not what the format says.
  case malformed(line: Int)
  /// A line is longer than any sample may be.
  case lineTooLong(line: Int)
  /// The server stopped with this message.
  case server(String)
  /// The stream ended before its last token.
  case cutOff
}

extension ChangeFeedError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed(let line): "The other machine sent something that is not a change feed (line \(line))."
    case .lineTooLong(let line): "The other machine sent a change that is too large to be one (line \(line))."
    case .server(let message): "The other machine stopped in the middle: \(message)"
    case .cutOff: "The connection ended before all changes had arrived."
    }
  }
}

/// Cuts a stream of bytes into lines and decodes them, however the bytes are divided.
public struct ChangeLineDecoder {
  private let decoder = JSONDecoder()
  private let limit: Int
  private var pending: [UInt8] = []
  private var lines = 0

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
