import COpenSSL

/// A secret of a known length that is overwritten before its memory is given back.
///
/// It cannot be copied and does not grow, so that there is one place to overwrite. An array has no such place: whoever
/// holds it may copy it, and what it leaves when it grows stays as it was.
package struct SecretBytes: ~Copyable {
  private let buffer: UnsafeMutableRawBufferPointer
  private let release: (UnsafeMutableRawBufferPointer) -> Void

  /// All zero.
  ///
  /// - Parameter release: gives the memory back once it is overwritten; for tests.
  package init(count: Int, release: @escaping (UnsafeMutableRawBufferPointer) -> Void = { $0.deallocate() }) {
    buffer = .allocate(byteCount: count, alignment: MemoryLayout<UInt64>.alignment)
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    self.release = release
  }

  /// - Parameter bytes: are their owner's to overwrite.
  package init(copying bytes: some Collection<UInt8>) {
    self.init(count: bytes.count)
    buffer.copyBytes(from: bytes)
  }

  deinit {
    // Unlike an assignment, it may not be left out by the compiler.
    OPENSSL_cleanse(buffer.baseAddress, buffer.count)
    release(buffer)
  }

  package var count: Int { buffer.count }

  package borrowing func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(buffer))
  }

  package mutating func withMutableBytes<Result, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(buffer)
  }
}
