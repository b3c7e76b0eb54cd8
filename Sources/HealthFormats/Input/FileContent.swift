/// The content of a file of samples, decompressed if necessary. Can be read any number of times.
struct FileContent: Sendable {
  private enum Place: Sendable {
    case file(size: Int64)
    case memory([UInt8])
  }

  /// The path as the person gave it, for messages.
  let path: String
  private let place: Place
  private let compression: FileCompression?

  /// Creates the content of a file.
  ///
  /// - Parameter size: the size of the file, before decompression, when it was found.
  init(path: String, size: Int64, compression: FileCompression? = nil) {
    (self.path, place, self.compression) = (path, .file(size: size), compression)
  }

  init(_ bytes: [UInt8], compression: FileCompression? = nil) {
    (path, place, self.compression) = ("memory", .memory(bytes), compression)
  }

  /// The size of the file in bytes, before decompression.
  var size: Int64 {
    switch place {
    case .file(let size): size
    case .memory(let bytes): Int64(bytes.count)
    }
  }

  /// The path of the file; `nil` for content in memory.
  var filePath: String? { if case .file = place { path } else { nil } }

  func open() throws(ImportError) -> ContentSource {
    let file: any ByteSource =
      switch place {
      case .memory(let bytes): MemorySource(bytes)
      case .file(let size): SizedSource(try FileSource(path: path), path: path, size: size)
      }
    return ContentSource(file, compression, path: path)
  }
}

/// A source of the decompressed content of a file.
final class ContentSource: ByteSource {
  private let file: CountedSource
  private let content: any ByteSource

  init(_ file: any ByteSource, _ compression: FileCompression?, path: String) {
    self.file = CountedSource(file)
    content = compression?.decompressing(self.file, path: path) ?? self.file
  }

  /// The number of bytes of the file that have been read, before decompression. Used for progress.
  var position: Int64 { file.count }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    try content.read(into: buffer, count: count)
  }

  func close() { content.close() }
}

private final class CountedSource: ByteSource {
  private let source: any ByteSource
  private(set) var count: Int64 = 0

  init(_ source: any ByteSource) { self.source = source }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    let result = try source.read(into: buffer, count: count)
    self.count += Int64(result)
    return result
  }

  func close() { source.close() }
}
