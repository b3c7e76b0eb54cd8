/// A buffer of bytes from a source, for decoders that work in steps. Closes the source when it is deallocated.
final class InputBuffer {
  private let source: any ByteSource
  private let bytes: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private var position = 0
  private var filled = 0

  init(_ source: any ByteSource, capacity: Int) {
    self.source = source
    self.capacity = capacity
    bytes = .allocate(capacity: capacity)
  }

  deinit {
    source.close()
    bytes.deallocate()
  }

  /// The number of buffered bytes.
  var count: Int { filled - position }
  /// The first buffered byte. Valid until the next ``fill()``.
  var start: UnsafeMutablePointer<UInt8> { bytes + position }

  func take(_ count: Int) { position += count }

  /// Reads more bytes if the buffer is empty. Returns false at the end of the source.
  func fill() throws(ImportError) -> Bool {
    if position < filled { return true }
    position = 0
    filled = try source.read(into: bytes, count: capacity)
    return filled > 0
  }

  func close() { source.close() }
}
