import Foundation

/// A stream of bytes that is read once, from front to back. Used by one thread at a time.
protocol ByteSource: AnyObject {
  /// Reads at most `count` bytes into `buffer` and returns their number; 0 means the end.
  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int
  /// Releases the resources of the source. Reading afterwards is an error.
  func close()
}

/// A file that is read with `read(2)`.
final class FileSource: ByteSource {
  private let path: String
  private var descriptor: Int32

  /// Opens a file.
  ///
  /// - Parameter followsLinks: whether `path` itself may be a symbolic link.
  init(path: String, followsLinks: Bool = true) throws(ImportError) {
    self.path = path
    // `O_NONBLOCK`, because opening a pipe would otherwise wait for a writer.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
    guard descriptor >= 0 else { throw ImportError(errno: errno, path: path) }
  }

  deinit { close() }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    while true {
      let result = Foundation.read(descriptor, buffer, count)
      if result >= 0 { return result }
      if errno != EINTR { throw ImportError(errno: errno, path: path) }
    }
  }

  func close() {
    guard descriptor >= 0 else { return }
    _ = Foundation.close(descriptor)
    descriptor = -1
  }
}

/// A source of bytes in memory.
final class MemorySource: ByteSource {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
    let length = min(count, bytes.count - position)
    bytes.withUnsafeBufferPointer { all in
      // An empty array has no base address, and nothing to copy.
      if let base = all.baseAddress { buffer.update(from: base + position, count: length) }
    }
    position += length
    return length
  }

  func close() {}
}

extension ByteSource {
  /// Reads and returns at most `limit` bytes.
  func prefix(_ limit: Int) throws(ImportError) -> [UInt8] {
    let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: limit)
    defer { buffer.deallocate() }
    var filled = 0
    while filled < limit {
      let count = try read(into: buffer + filled, count: limit - filled)
      if count == 0 { break }
      filled += count
    }
    return Array(UnsafeBufferPointer(start: buffer, count: filled))
  }
}

/// A source that must have the size it had when it was found.
final class SizedSource: ByteSource {
  private let source: any ByteSource
  private let path: String
  private var rest: Int64

  init(_ source: any ByteSource, path: String, size: Int64) {
    self.source = source
    self.path = path
    rest = size
  }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    let result = try source.read(into: buffer, count: count)
    rest -= Int64(result)
    if rest < 0 || result == 0 && rest > 0 { throw .changedWhileReading(path: path) }
    return result
  }

  func close() { source.close() }
}
