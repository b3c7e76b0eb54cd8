import COpenSSL

/// OpenSSL's in-memory stream, for PEM.
final class MemoryBIO {
  let pointer: OpaquePointer

  init() throws(OpenSSLError) {
    guard let pointer = BIO_new(BIO_s_mem()) else { throw OpenSSLError("BIO_new") }
    self.pointer = pointer
  }

  convenience init(_ text: String) throws(OpenSSLError) {
    try self.init()
    let bytes = Array(text.utf8)
    guard BIO_write(pointer, bytes, Int32(clamping: bytes.count)) == Int32(clamping: bytes.count) else {
      throw OpenSSLError("BIO_write")
    }
  }

  deinit { BIO_free(pointer) }

  func readAll() -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = BIO_read(pointer, &buffer, Int32(buffer.count)), count > 0 {
      bytes += buffer[..<Int(count)]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
