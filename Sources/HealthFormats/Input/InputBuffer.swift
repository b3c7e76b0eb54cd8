/// What was read of a source and not taken yet, for what decodes in steps. Closes the source when it goes.
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

  /// How many bytes are there to take.
  var count: Int { filled - position }
  /// The first of them; valid until the next ``fill()``.
  var start: UnsafeMutablePointer<UInt8> { bytes + position }

  func take(_ count: Int) { position += count }

  /// Reads on where nothing is left. False at the end of the source.
  func fill() throws(ImportError) -> Bool {
    if position < filled { return true }
    position = 0
    filled = try source.read(into: bytes, count: capacity)
    return filled > 0
  }

  func close() { source.close() }
}
