import COpenSSL

/// A secret of a fixed length whose memory is overwritten before it is freed.
///
/// The type cannot be copied and does not grow, so there is only one place to overwrite. An array offers no such
/// guarantee: it may be copied, and growing leaves the old bytes in freed memory.
package struct SecretBytes: ~Copyable {
  private let buffer: UnsafeMutableRawBufferPointer
  private let release: (UnsafeMutableRawBufferPointer) -> Void

  /// Creates a secret of zeros.
  ///
  /// - Parameter release: frees the memory after it was overwritten; for tests.
  package init(count: Int, release: @escaping (UnsafeMutableRawBufferPointer) -> Void = { $0.deallocate() }) {
    buffer = .allocate(byteCount: count, alignment: MemoryLayout<UInt64>.alignment)
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    self.release = release
  }

  /// Creates a secret from bytes.
  /// - Parameter bytes: the bytes, which the caller must overwrite.
  package init(copying bytes: some Collection<UInt8>) {
    self.init(count: bytes.count)
    buffer.copyBytes(from: bytes)
  }

  deinit {
    // Unlike an assignment, this call may not be removed by the compiler.
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
