import CISAL

/// The content of a file in a zip archive that may be truncated. The content ends where the data ends.
final class OpenEndedSource: ByteSource {
  private static let inputSize = 64 << 10

  private let source: any ByteSource
  private let path: String
  /// The inflater; `nil` for content that is stored without compression.
  private let inflater: Inflater?
  private let input: UnsafeMutablePointer<UInt8>
  private var position = 0
  private var filled = 0
  /// The number of bytes of the archive that have been used.
  private(set) var used: Int64 = 0
  private var storedChecksum: UInt32 = 0

  init(_ source: any ByteSource, path: String, isDeflated: Bool = true) {
    self.source = source
    self.path = path
    inflater = isDeflated ? Inflater() : nil
    input = .allocate(capacity: Self.inputSize)
  }

  deinit {
    close()
    input.deallocate()
  }

  /// The CRC-32 of the content that has been read.
  var checksum: UInt32 { inflater?.checksum ?? storedChecksum }
  /// Whether the compressed data has reached its regular end.
  var isFinished: Bool { inflater?.isFinished ?? true }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    guard let inflater else {
      let result = try source.read(into: buffer, count: count)
      storedChecksum = crc32_gzip_refl(storedChecksum, buffer, UInt64(result))
      used += Int64(result)
      return result
    }
    while !inflater.isFinished {
      if position == filled {
        position = 0
        filled = try source.read(into: input, count: Self.inputSize)
      }
      let isAtEnd = filled == 0
      do throws(Inflater.Damage) {
        let step = try inflater.inflate(input + position, count: filled - position, into: buffer, capacity: count)
        position += step.used
        used += Int64(step.used)
        if step.written > 0 { return step.written }
      } catch {
        throw .damagedZip(path: path, detail: "its compressed data makes no sense", someKept: false)
      }
      if isAtEnd { return 0 }
    }
    return 0
  }

  func close() { source.close() }
}
