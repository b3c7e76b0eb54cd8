import Foundation

/// Bytes read from front to back, once. Used by one thread at a time.
protocol ByteSource: AnyObject {
  /// Fills at most `count` bytes at `buffer` and returns how many; 0 is the end.
  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int
  /// Releases what the source holds. Reading afterwards is an error.
  func close()
}

/// A file, read with `read(2)`.
final class FileSource: ByteSource {
  private let path: String
  private var descriptor: Int32

  /// - Parameter followsLinks: whether `path` itself may be a symbolic link.
  init(path: String, followsLinks: Bool = true) throws(ImportError) {
    self.path = path
    // Not to wait for someone who writes into a pipe.
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

/// Bytes in memory.
final class MemorySource: ByteSource {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
    let length = min(count, bytes.count - position)
    bytes.withUnsafeBufferPointer { all in
      // An empty array has no base address, and then there is nothing to copy.
      if let base = all.baseAddress { buffer.update(from: base + position, count: length) }
    }
    position += length
    return length
  }

  func close() {}
}

extension ByteSource {
  /// At most `limit` bytes from here on.
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

/// A source that must be as long as it was when it was found.
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
