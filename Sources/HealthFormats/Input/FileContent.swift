/// The bytes of a file of samples, as it has them or decompressed, as often as they are asked for.
struct FileContent: Sendable {
  private enum Place: Sendable {
    case file(size: Int64)
    case memory([UInt8])
  }

  /// As the person gave it, for messages.
  let path: String
  private let place: Place
  private let compression: FileCompression?

  /// - Parameter size: of the file as it is, when it was found.
  init(path: String, size: Int64, compression: FileCompression? = nil) {
    (self.path, place, self.compression) = (path, .file(size: size), compression)
  }

  init(_ bytes: [UInt8], compression: FileCompression? = nil) {
    (path, place, self.compression) = ("memory", .memory(bytes), compression)
  }

  /// Of the file as it is.
  var size: Int64 {
    switch place {
    case .file(let size): size
    case .memory(let bytes): Int64(bytes.count)
    }
  }

  /// `nil` for what is in memory.
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

/// Reads the content of a file.
final class ContentSource: ByteSource {
  private let file: CountedSource
  private let content: any ByteSource

  init(_ file: any ByteSource, _ compression: FileCompression?, path: String) {
    self.file = CountedSource(file)
    content = compression?.decompressing(self.file, path: path) ?? self.file
  }

  /// Bytes of the file that have been read, compressed or not: how far one has come.
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
