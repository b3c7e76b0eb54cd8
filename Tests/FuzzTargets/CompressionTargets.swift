@testable import HealthFormats

extension FuzzTarget {
  @Sendable static func gzipFile(_ input: [UInt8]) { compressed(input, .gzip) }

  @Sendable static func zstandardFile(_ input: [UInt8]) { compressed(input, .zstandard) }

  /// Fuzzes a decompressor: however a file is divided, it gives the same content or fails in both cases.
  private static func compressed(_ input: [UInt8], _ compression: FileCompression) {
    let whole = content(of: input, compression, reads: 1 << 16)
    let divided = content(of: input, compression, reads: 1 + Int(input.first ?? 0))
    require(whole.isWhole == divided.isWhole, "the same end")
    if whole.isWhole { require(whole.bytes == divided.bytes, "the same content") }
    let compressor = compression.compressor()
    let again = content(of: compressor.compress(whole.bytes) + compressor.finish(), compression, reads: 1 << 16)
    require(again.isWhole && again.bytes == whole.bytes, "what is compressed comes back")
  }

  private static let longest = 1 << 17

  private static func content(
    of input: [UInt8], _ compression: FileCompression, reads: Int
  ) -> (bytes: [UInt8], isWhole: Bool) {
    let source = compression.decompressing(MemorySource(input), path: "")
    var bytes: [UInt8] = []
    do throws(ImportError) {
      // What is longer would only take time. To the byte, since an error may come right after.
      while bytes.count < longest {
        let piece = try source.prefix(min(reads, longest - bytes.count))
        if piece.isEmpty { break }
        bytes += piece
      }
      return (bytes, true)
    } catch {
      require(!"\(error)".isEmpty, "a sentence for every error")
      return (bytes, false)
    }
  }
}
